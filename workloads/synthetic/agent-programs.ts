import type { AgentCall } from '../program.js';
import type { Dice } from '../dice.js';
import { draw, drawWhole } from './distribution.js';
import type { AgentSpec } from './spec.js';

export interface Opening {
  readonly thread: string;
  readonly after: readonly number[];
}

/**
 * Adds the calls of an agent in sequence. Each prompt consists of the previous prompt, its answer without the
 * reasoning, and the reply of a tool or a person.
 * @returns tokens of the last answer that others may read
 */
export function addAgent(calls: AgentCall[], spec: AgentSpec, { thread, after }: Opening, dice: Dice): number {
  const system = pick(spec.system, dice);
  const turns = drawWhole(spec.turns, dice);
  let promptTokens = system?.tokens ?? 0;
  let prefix: AgentCall['prefix'] = system && { name: familyOf(system, dice), tokens: system.tokens };
  let gapMs = 0;
  let answerTokens = 0;
  let isFirst = true;
  for (let turn = 0; turn < turns; turn += 1) {
    promptTokens += drawWhole(
      turn === 0 && spec.firstInputTokens !== undefined ? spec.firstInputTokens : spec.inputTokens,
      dice,
    );
    if (turn > 0) gapMs = draw(spec.thinkMs, dice);
    const inTurn = drawWhole(spec.callsPerTurn, dice);
    for (let call = 1; call <= inTurn; call += 1) {
      const isLast = call === inTurn;
      const outputTokens = drawWhole((isLast ? spec.answerTokens : undefined) ?? spec.outputTokens, dice);
      const reasoningTokens = Math.min(outputTokens, drawWhole(spec.reasoningTokens, dice));
      // The first call is always made, cut to fit.
      if (isFirst) promptTokens = Math.min(promptTokens, spec.contextTokensMax - outputTokens);
      else if (promptTokens + outputTokens > spec.contextTokensMax) return answerTokens;
      const tool = isLast ? undefined : pick(spec.tools, dice);
      const toolMs = tool === undefined ? 0 : draw(tool.ms, dice);
      const at = calls.push({
        after: isFirst ? after : [calls.length - 1],
        thread,
        gapMs,
        promptTokens,
        outputTokens,
        ...(prefix && { prefix }),
        ...(tool && { tools: [{ name: tool.name, ms: toolMs }] }),
      });
      isFirst = false;
      answerTokens = outputTokens - reasoningTokens;
      // Reasoning is not sent back, so the text after it moves and is no longer cached.
      prefix = { call: at - 1, tokens: promptTokens + (reasoningTokens > 0 ? 0 : outputTokens) };
      promptTokens += answerTokens + (tool === undefined ? 0 : drawWhole(tool.resultTokens, dice));
      gapMs = toolMs;
    }
  }
  return answerTokens;
}

/** The name of the text that a program begins with. */
const familyOf = ({ name, families }: AgentSpec['system'][number], dice: Dice): string =>
  families === 1 ? name : `${name}/${dice.int(1, families)}`;

/** A random item, by weight; undefined for an empty list. */
export function pick<T extends { readonly weight: number }>(from: readonly T[], dice: Dice): T | undefined {
  if (from.length < 2) return from[0];
  let left = dice.share() * from.reduce((sum, { weight }) => sum + weight, 0);
  return from.find(({ weight }) => (left -= weight) < 0) ?? from.at(-1);
}
