import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import type { RootThread } from '../protocol/events.js';

/*
 * Predicts the size of a program's context from programs of its agent type with first prompts of about the same length.
 *
 * An agent's first prompt is a tenth of its last. A gate that counts present sizes lets in too many newcomers: all grow,
 * residents evict each other, and their prefixes are computed many times over (docs/DESIGN.md has the figures). So a
 * program counts at least the size that its kind reaches late in life: first prompt + growth a call x calls x 5/8. One
 * with no second call yet counts the share of that growth which its kind reaches.
 */

export function arrived(program: Program, promptTokens: number): void {
  if (program.rootCallsFinished === 0) program.firstPromptTokens = promptTokens;
  follow(program);
}

/**
 * A call of the root thread has finished and left a context of `contextTokens`. A call parallel to the one before, as
 * in a tree search, has added its answer. Any other has added the difference to the context before.
 */
export function finished(
  { program, arrivedAtMs }: Call,
  contextTokens: number,
  answerTokens: number,
  nowMs: number,
): void {
  follow(program);
  const { type, firstPromptTokens, rootCallsFinished, rootContextTokens } = program;
  const ranBeside = arrivedAtMs < program.rootEndedAtMs;
  const grownTokens = ranBeside ? answerTokens : contextTokens - rootContextTokens;
  type.growth.answered(firstPromptTokens, rootCallsFinished === 0, rootContextTokens > 0 ? grownTokens : undefined);
  program.rootCallsFinished += 1;
  program.rootIsUnfollowed = true;
  program.rootContextTokens = contextTokens;
  program.rootEndedAtMs = nowMs;
  if (program.isElsewhere) follow(program);
}

/** The root thread has gone on at other gateways, and a call of it arrives here again. */
export function joined(program: Program, { calls, firstPromptTokens, contextTokens }: RootThread): void {
  if (calls <= program.rootCallsFinished) return;
  program.rootCallsFinished = calls;
  program.firstPromptTokens = firstPromptTokens;
  program.rootContextTokens = contextTokens;
  program.rootWentOn = true;
  program.rootIsUnfollowed = false;
}

/** Another call shows that the last finished one was followed. Each answer counts once: a call sent again does not. */
export function follow(program: Program): void {
  if (!program.rootIsUnfollowed) return;
  program.type.growth.followed(program.firstPromptTokens, program.rootCallsFinished === 1);
  program.rootIsUnfollowed = false;
  program.rootWentOn = true;
}
