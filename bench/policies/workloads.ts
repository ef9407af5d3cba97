import type { PlannedCall, PlannedProgram } from '../../sim/virtual/world.js';

/** A stream of chance from one seed (mulberry32): the same numbers in every run. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const exponential = (roll: number, mean: number): number => -Math.log(1 - roll) * mean;
/** Log-normal by median and the 95th percentile: heavy tails as recorded programs have. */
function logNormal(one: number, two: number, median: number, p95: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - one)) * Math.cos(2 * Math.PI * two);
  return median * Math.exp((normal * Math.log(p95 / median)) / 1.645);
}

type MakeCalls = (roll: () => number) => PlannedCall[];

function arriving(count: number, perSecond: number, make: MakeCalls, seed: number): PlannedProgram[] {
  const roll = dice(seed);
  let arrivesAtMs = 0;
  return Array.from({ length: count }, () => {
    arrivesAtMs += exponential(roll(), 1000 / perSecond);
    return { arrivesAtMs, calls: make(roll) };
  });
}

/**
 * Coding agents, after recorded mini-swe-agent runs: calls 33 in the median and 78 at p95, output 89 and 1,047 tokens,
 * tool gaps 4 and 16 s; what a tool prints brings contexts to 13 k tokens in the median.
 */
const agentCalls: MakeCalls = (roll) => {
  let context = 2000 + roll() * 1500;
  return Array.from({ length: Math.max(3, Math.round(logNormal(roll(), roll(), 33, 78))) }, (_, index) => {
    const promptTokens = Math.round(Math.min(context, 100_000));
    const outputTokens = Math.max(8, Math.min(8000, Math.round(logNormal(roll(), roll(), 89, 1047))));
    context = promptTokens + outputTokens + logNormal(roll(), roll(), 200, 1500);
    return { promptTokens, outputTokens, gapMs: index === 0 ? 0 : 1000 * logNormal(roll(), roll(), 4, 16) };
  });
};

/** People: a few turns, answers of 250 tokens, reading for 20 s in the mean. */
const chatCalls: MakeCalls = (roll) => {
  let context = 500 + roll() * 2000;
  return Array.from({ length: 1 + Math.floor(exponential(roll(), 5)) }, (_, index) => {
    const promptTokens = Math.round(context);
    const outputTokens = 50 + Math.round(exponential(roll(), 250));
    context = promptTokens + outputTokens + 100 + roll() * 500;
    return { promptTokens, outputTokens, gapMs: index === 0 ? 0 : exponential(roll(), 20_000) };
  });
};

const oneCall: MakeCalls = (roll) => [
  { promptTokens: Math.round(3000 + roll() * 6000), outputTokens: Math.round(100 + roll() * 400), gapMs: 0 },
];

export const agents = (count: number, perSecond: number): PlannedProgram[] => arriving(count, perSecond, agentCalls, 1);
export const chat = (count: number, perSecond: number): PlannedProgram[] => arriving(count, perSecond, chatCalls, 2);
export const oneShot = (count: number, perSecond: number): PlannedProgram[] => arriving(count, perSecond, oneCall, 3);
/** Equal parts of the three. */
export const mixed = (count: number, perSecond: number): PlannedProgram[] =>
  arriving(count, perSecond, (roll) => ([agentCalls, chatCalls, oneCall][Math.floor(roll() * 3)] ?? oneCall)(roll), 4);
