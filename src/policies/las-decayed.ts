import type { ProgramMemory, Policy } from './policy.js';

const HALF_LIFE_MS = 60_000;
/** Weight of an output token over a prompt token. */
const OUTPUT_WEIGHT = 2;
const SERVICE_SHARE = 0.8;
const WAIT_SHARE = 0.2;
/** Units of service and of waiting: the tokens that a busy agent uses in a half-life, and the half-life. */
const SERVICE_UNIT_TOKENS = 32_768;
const WAIT_UNIT_MS = HALF_LIFE_MS;

/**
 * Least attained service with forgetting, after llm-d's program-aware fairness. It weighs tokens (prompt + 2 x
 * completion), which fade with a half-life of 60 s, against the wait of the head call:
 *     score = 0.8 x tokens / 32768 - 0.2 x wait / 60 s,      lowest first.
 * Waiting adds the same to every call each second, so it never changes the order of two calls. The score is therefore
 * ranked once, on arrival, as 0.8 x tokens + 0.2 x arrival. Level 0 is reserved for promotions.
 */
export const lasDecayed: Policy = {
  name: 'las-decayed',
  admits: true,
  levels: 2,
  stand: (arrival, program, nowMs) => ({
    level: 1,
    rank:
      (SERVICE_SHARE * fadedTokens(program, nowMs)) / SERVICE_UNIT_TOKENS +
      (WAIT_SHARE * arrival.arrivedAtMs) / WAIT_UNIT_MS,
  }),
  charge(program, promptTokens, outputTokens, nowMs) {
    program.fadingTokens = fadedTokens(program, nowMs) + promptTokens + OUTPUT_WEIGHT * outputTokens;
    program.fadingAtMs = nowMs;
  },
};

/** No `**`: its last digit varies with the version of Node; a recording must replay on any. */
function fadedTokens(program: Readonly<ProgramMemory>, nowMs: number): number {
  return program.fadingTokens * Math.exp((Math.LN2 * (program.fadingAtMs - nowMs)) / HALF_LIFE_MS);
}
