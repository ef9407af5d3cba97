import { makeBalancer } from '../loadbalancer/index.js';
import type { Config } from '../sidecar/config/index.js';
import { makeSteps, PRESETS, type PresetName, runWorld, tokensOf } from '../sim/index.js';
import type { PolicyName } from '../src/index.js';
import type { AgentProgram, Prefix } from '../workloads/index.js';
import type { ProgramOutcome } from './replay.js';
import type { Run } from './report.js';

/** The stand-in's default. */
const BLOCK_TOKENS = 16;
/** Marks of the stand-in's chat template around a message. */
const MARKS = 2;

/** The engines, and the pace of the tools. */
export interface Scene {
  readonly engines: number;
  readonly preset: PresetName;
  readonly kvTokens: number;
  readonly gapScale: number;
  readonly gapMsMax: number;
}

/** Plays the programs in virtual time as `replay` does in real time: all at once, on empty caches. */
export function simulate(
  policy: PolicyName,
  seed: number,
  programs: readonly AgentProgram[],
  { engines, preset, kvTokens, ...pace }: Scene,
  config: Config,
): Run {
  const outcomes: ProgramOutcome[] = [];
  let [queuedMs, promptTokens, cachedTokens] = [0, 0, 0];
  const world = runWorld({
    programs: programs.map((program) => played(program, pace)),
    arrivals: { type: 'closed', concurrency: programs.length },
    seed,
    engines,
    engine: { preset: { ...PRESETS[preset], kvTokens }, blockSize: BLOCK_TOKENS, scheduling: 'fcfs' },
    scheduler: () => makeSteps(policy, config, makeBalancer(config.balancer)),
    alone: false,
    observer: {
      callEnded: (call) => {
        promptTokens += call.promptTokens;
        cachedTokens += call.cachedTokens;
        if (call.dispatchedMs > call.arrivedMs) queuedMs += call.dispatchedMs - call.arrivedMs;
      },
      programEnded: ({ program: id, arrivedMs, endedMs, calls, outcome }) =>
        outcomes.push({
          id,
          seconds: (endedMs - arrivedMs) / 1000,
          calls,
          seenAs: new Set([id]),
          overheadSeconds: 0,
          ...(outcome !== 'completed' && { failure: outcome }),
        }),
    },
  });
  const sum = (of: (engine: (typeof world.engines)[number]) => number) =>
    world.engines.reduce((all, engine) => all + of(engine), 0);
  return {
    policy,
    seed,
    speed: 1,
    outcomes,
    prefix: { queries: sum((engine) => engine.queriedTokens), hits: sum((engine) => engine.hitTokens) },
    view: {
      programs: outcomes.length,
      promptTokens,
      cachedTokens,
      queuedSeconds: queuedMs / 1000,
      promotions: world.promotions,
    },
  };
}

/** The program with its prompts as the stand-in's template makes them of its messages, and its gaps as played. */
function played(
  { id, calls }: AgentProgram,
  { gapScale, gapMsMax }: Pick<Scene, 'gapScale' | 'gapMsMax'>,
): AgentProgram {
  const [opening] = calls[0]?.messages ?? [];
  let prefix: Prefix | undefined = opening && { name: opening.content, tokens: tokensOf(opening.content) + MARKS };
  // A prompt ends with the mark that opens the answer.
  let promptTokens = 1;
  return {
    id,
    calls: calls.map(({ messages = [], answer = '', after, thread, ...call }, index) => {
      for (const { content } of messages) promptTokens += tokensOf(content) + MARKS;
      // The answer's text and end mark; an engine generates at least one token.
      const answerTokens = tokensOf(answer) + 1;
      const outputTokens = Math.max(1, call.outputTokens);
      const gapMs = Math.min(call.gapMs, gapMsMax) * gapScale;
      const own = { after, thread, gapMs, promptTokens, outputTokens, ...(prefix && { prefix }) };
      // Reasoning follows the text in the stand-in's cache, and is not sent back.
      prefix = { call: index, tokens: promptTokens + Math.min(answerTokens, outputTokens) };
      promptTokens += answerTokens + 1;
      return own;
    }),
  };
}
