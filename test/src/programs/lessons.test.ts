import fc from 'fast-check';
import { expect, it } from 'vitest';
import { programId, tenantId } from '../../../src/index.js';
import { AgentTypes } from '../../../src/programs/agent-types.js';
import { CompletionIndex } from '../../../src/programs/completion-index.js';
import { Lessons } from '../../../src/programs/lessons.js';
import { ProcessTable } from '../../../src/programs/process-table.js';
import { ProgramEnds } from '../../../src/programs/program-ends.js';

it('are learnt in their order, each once, and not before their time', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(50), fc.nat(20)), { maxLength: 3000 }), (steps) => {
      const learnt: number[] = [];
      const index = {
        ended: (ms: number) => learnt.push(ms),
        recordService: (_: number, ms: number) => learnt.push(ms),
      };
      const lessons = new Lessons();
      let nowMs = 0;
      const given: number[] = [];
      for (const [at, [waitMs, lateMs]] of steps.entries()) {
        nowMs += waitMs;
        const common = { index: index as unknown as CompletionIndex, atMs: nowMs, fromMs: at };
        lessons.add(at % 3 === 0 ? common : { ...common, toMs: at });
        given.push(nowMs);
        lessons.learn(nowMs - lateMs);
        const due = given.filter((givenMs) => givenMs <= nowMs - lateMs).length;
        expect(learnt.length).toBeGreaterThanOrEqual(due);
      }
      lessons.learn(Infinity);
      expect(learnt).toEqual(steps.map((_, at) => at));
    }),
  );
});

it('are learnt early by the oldest, where there are too many', () => {
  const index = new CompletionIndex();
  const lessons = new Lessons();
  for (let at = 0; at < 65_536 + 32; at += 1) lessons.add({ index, atMs: 1e9, fromMs: 100 });
  expect(index.isLearnt).toBe(true);
});

it('come as late as presumed ends, so that programs which came at once do not seem endless', () => {
  const types = new AgentTypes();
  const table = new ProcessTable(10_000);
  const ends = new ProgramEnds(table, types.background);
  let nowMs = 0;
  // Each takes 6 s, pauses, and is presumed to have ended after 80 s.
  for (let program = 0; !types.all.index.isLearnt; program += 1, nowMs += 1_000) {
    const { row } = table.admit(programId(`p${program}`), tenantId('t'), nowMs);
    row.type = types.of(undefined, row.tenant);
    ends.served(row, 6_000, nowMs);
    row.serviceMs = 6_000;
    table.rest(row, nowMs);
    ends.presume(nowMs, 20_000);
  }
  expect(nowMs).toBeGreaterThan(100_000);
  expect(types.all.index.msToEnd(3_000)).toBeGreaterThan(3_000);
  expect(types.all.index.msToEnd(3_000)).toBeLessThan(5_000);
});
