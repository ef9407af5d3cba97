import { type AgentCall, type AgentProgram, Dice, inChain } from '../../workloads/index.js';

type Chain = Omit<AgentCall, 'after' | 'thread' | 'prefix'>[];
type Draw = (dice: Dice) => Chain;

/** Length of the system prompt shared by all programs. */
const SYSTEM_TOKENS = 1024;

const exponential = (dice: Dice, mean: number): number => -Math.log(1 - dice.share()) * mean;

/**
 * Coding agents, after recorded mini-swe-agent runs: calls 33 in the median and 78 at p95, output 89 and 1,047 tokens,
 * tool gaps 4 and 16 s. Tools' output brings contexts to 13 k tokens in the median.
 */
const agentCalls: Draw = (dice) => {
  let context = 2000 + dice.share() * 1500;
  return Array.from({ length: Math.max(3, Math.round(dice.logNormal(33, 78))) }, (_, index) => {
    const promptTokens = Math.round(Math.min(context, 100_000));
    const outputTokens = Math.max(8, Math.min(8000, Math.round(dice.logNormal(89, 1047))));
    context = promptTokens + outputTokens + dice.logNormal(200, 1500);
    return { promptTokens, outputTokens, gapMs: index === 0 ? 0 : 1000 * dice.logNormal(4, 16) };
  });
};

/** People: a few turns, answers of 250 tokens, reading for 20 s in the mean. */
const chatCalls: Draw = (dice) => {
  let context = 500 + dice.share() * 2000;
  return Array.from({ length: 1 + Math.floor(exponential(dice, 5)) }, (_, index) => {
    const promptTokens = Math.round(context);
    const outputTokens = 50 + Math.round(exponential(dice, 250));
    context = promptTokens + outputTokens + 100 + dice.share() * 500;
    return { promptTokens, outputTokens, gapMs: index === 0 ? 0 : exponential(dice, 20_000) };
  });
};

const oneCall: Draw = (dice) => [
  {
    promptTokens: Math.round(3000 + dice.share() * 6000),
    outputTokens: Math.round(100 + dice.share() * 400),
    gapMs: 0,
  },
];

/** Each prompt continues the whole conversation before it. */
function* programs(draw: Draw, seed: number): Generator<AgentProgram, never> {
  for (let index = 0; ; index += 1) {
    const calls = draw(Dice.of(seed, index));
    const linked = calls.map((call, at) => {
      const before = calls[at - 1];
      const kept = before === undefined ? 0 : before.promptTokens + before.outputTokens;
      const prefix =
        at === 0
          ? { name: 'system', tokens: Math.min(SYSTEM_TOKENS, call.promptTokens) }
          : { call: at - 1, tokens: Math.min(kept, call.promptTokens) };
      return { ...call, prefix };
    });
    yield { id: `p${index}`, calls: inChain(linked) };
  }
}

export const agents = (): Iterable<AgentProgram> => programs(agentCalls, 1);
export const chat = (): Iterable<AgentProgram> => programs(chatCalls, 2);
export const oneShot = (): Iterable<AgentProgram> => programs(oneCall, 3);
/** Equal parts of the three. */
export const mixed = (): Iterable<AgentProgram> =>
  programs((dice) => ([agentCalls, chatCalls, oneCall][Math.floor(dice.share() * 3)] ?? oneCall)(dice), 4);
