import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { AgentProgram } from '../../../workloads/program.js';
import { BUILT_IN } from '../../../workloads/synthetic/built-in.js';
import { Dice } from '../../../workloads/dice.js';
import { drawWhole, type Distribution } from '../../../workloads/synthetic/distribution.js';
import { specSchema } from '../../../workloads/synthetic/spec.js';
import { describeRecorded, readTrace } from '../../support/traces.js';
import { spreadOf } from '../../support/workload-figures.js';

// The tables of `built-in.ts` that were measured, measured again.
const spec = <K extends 'agent' | 'map-reduce'>(name: keyof typeof BUILT_IN, kind: K) => {
  const parsed = specSchema.parse(BUILT_IN[name]);
  if (parsed.kind !== kind) throw new Error(`${name} is ${parsed.kind}`);
  return parsed as Extract<typeof parsed, { kind: K }>;
};

/** Each distribution draws values like those that were measured, but for so much of them. */
function expectLike(...pairs: readonly (readonly [Distribution, readonly number[], slack?: number])[]): void {
  for (const [from, measured, slack = 0.1] of pairs) {
    const dice = new Dice(1);
    const drawn = spreadOf(Array.from({ length: 20_000 }, () => drawWhole(from, dice)));
    for (const [figure, value] of Object.entries(spreadOf(measured))) {
      const own = drawn[figure as keyof typeof drawn];
      expect(Math.abs(own - value), `${figure}: ${own} for ${value}`).toBeLessThanOrEqual(1 + slack * value);
    }
  }
}

const calls = (all: readonly AgentProgram[]) => all.flatMap((program) => program.calls);
const outputs = (all: readonly AgentProgram['calls'][number][]) => all.map(({ outputTokens }) => outputTokens);
/** What each prompt has beyond that of the call before it and its answer. */
const growth = (all: readonly AgentProgram[]) =>
  all.flatMap((program) =>
    program.calls.slice(1).map(({ promptTokens }, index) => {
      const before = program.calls[index]!;
      return Math.max(0, promptTokens - before.promptTokens - before.outputTokens);
    }),
  );

describeRecorded('mini-swe-agent/gemini-3-pro_swebench-verified_first60.jsonl.gz', (file) => {
  it('has the calls, answers and growth of coding agents', async () => {
    const { programs } = await readTrace(file);
    const { callsPerTurn, outputTokens, tools } = spec('coding', 'agent');
    const counts = programs.map((program) => program.calls.length);
    const answers = outputs(calls(programs)).filter((tokens) => tokens < 50_000);
    expectLike([callsPerTurn, counts], [outputTokens, answers], [tools[0]!.resultTokens, growth(programs)]);
  });
});

describeRecorded('agentcgroup/timings_first40.jsonl.gz', (file) => {
  it('has the tools of coding agents, as often and for as long', async () => {
    const { programs } = await readTrace(file);
    const used = calls(programs).flatMap((call) => call.tools ?? []);
    for (const { name, weight, ms } of spec('coding', 'agent').tools) {
      const times = used.filter((tool) => tool.name === name).map((tool) => tool.ms!);
      expect(times.length, name).toBe(weight);
      if (name === 'Bash') expectLike([ms, times, 0.15]);
      else if (times.length > 1)
        expect(spreadOf(times).median, name).toBeCloseTo((ms as { median: number }).median, -1);
    }
  });
});

describeRecorded('weka-claude-code/traces_with_subagents_first6.jsonl.gz', (file) => {
  it('has the sub-agents of map-reduce', async () => {
    const { programs } = await readTrace(file);
    const agents = programs.flatMap((program) =>
      [...new Set(program.calls.map((call) => call.thread))]
        .filter((thread) => thread !== '')
        .map((thread) => program.calls.filter((call) => call.thread === thread)),
    );
    const { callsPerTurn, outputTokens, answerTokens } = spec('map-reduce', 'map-reduce').subAgent;
    const counts = agents.map((own) => own.length);
    const [before, last] = [agents.flatMap((own) => own.slice(0, -1)), agents.map((own) => own.at(-1)!)];
    expectLike([callsPerTurn, counts, 0.15], [outputTokens, outputs(before)], [answerTokens!, outputs(last)]);
  });
});

describeRecorded('tau-bench/gpt-4o-airline.json.gz', (file) => {
  it('has the answers of ReAct agents', async () => {
    const { programs } = await readTrace(file);
    const answers = calls(programs).filter((call) => call.tools === undefined);
    expectLike([spec('react', 'agent').answerTokens!, outputs(answers)]);
  });
});

describeRecorded('bfcl/possible_answer/BFCL_v4_multi_turn_base.json.gz', (file) => {
  it('has the turns and calls of ReAct agents', () => {
    const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n');
    const tasks = lines.map((line) => (JSON.parse(line) as { ground_truth: readonly string[][] }).ground_truth);
    const { turns, callsPerTurn } = spec('react', 'agent');
    const steps = tasks.flatMap((task) => task.map((tools) => tools.length + 1));
    expectLike([turns, tasks.map((task) => task.length), 0.03], [callsPerTurn, steps, 0.03]);
  });
});
