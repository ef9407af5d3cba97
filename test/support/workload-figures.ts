import { programs, type Workload } from '../../workloads/workload.js';
import type { AgentProgram } from '../../workloads/program.js';

export interface Spread {
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)]!;
  return { mean: values.reduce((sum, value) => sum + value, 0) / values.length, median: at(0.5), p95: at(0.95) };
}

/** The first programs of a workload. */
export function take(workload: Workload, count: number, seed = 1): AgentProgram[] {
  const all = programs(workload, seed);
  return Array.from({ length: count }, () => all.next().value);
}

/** Largest sum of `own` over a chain of dependent calls. */
function longestWay({ calls }: AgentProgram, own: (call: AgentProgram['calls'][number]) => number): number {
  const until: number[] = [];
  for (const call of calls) until.push(own(call) + Math.max(0, ...call.after.map((before) => until[before]!)));
  return Math.max(...until);
}

/** Figures of a workload's programs, in tokens and seconds. */
export function figuresOf(all: readonly AgentProgram[]) {
  const calls = all.flatMap((program) => program.calls);
  const sum = (program: AgentProgram, of: (call: AgentProgram['calls'][number]) => number) =>
    program.calls.reduce((total, call) => total + of(call), 0);
  const spread = (of: (program: AgentProgram) => number) => spreadOf(all.map(of));
  return {
    'calls a program': spread((program) => program.calls.length),
    'prompt tokens a call': spreadOf(calls.map((call) => call.promptTokens)),
    'output tokens a call': spreadOf(calls.map((call) => call.outputTokens)),
    'prompt tokens a program, without what it shares': spread((program) =>
      sum(program, ({ promptTokens, prefix }) => promptTokens - (prefix && 'tokens' in prefix ? prefix.tokens : 0)),
    ),
    'output tokens a program': spread((program) => sum(program, (call) => call.outputTokens)),
    'output tokens on the longest way': spread((program) => longestWay(program, (call) => call.outputTokens)),
    'seconds of gaps on the longest way': spread((program) => longestWay(program, (call) => call.gapMs) / 1000),
  } as const;
}
