import { expect, it } from 'vitest';
import { KnownPrograms } from '../../../sidecar/watch/known-programs.js';
import { millis, type EngineId, type ProgramGone, type ProgramId, type Usage } from '../../../src/index.js';
import type { CallSpec } from '../../../sidecar/calls/spec.js';

const spec = (program: string, model: string, more: Partial<CallSpec> = {}) =>
  ({
    identity: { program, source: 'user', thread: '' },
    facts: { model },
    headers: {},
    warned: [],
    ...more,
  }) as unknown as CallSpec;
const engine = 'e' as EngineId;
const of = (known: KnownPrograms, program: string) => known.of({ id: program as ProgramId, removed: undefined });

it('remember what calls tell, and the last programs that ended', () => {
  const known = new KnownPrograms();
  known.accepted({ spec: spec('a', 'm', { family: { id: 0xab, tokens: 1 as never } }) });
  const last = spec('a', 'n', { family: { id: 0xcd, tokens: 1 as never } });
  known.accepted({ spec: last });
  known.dispatched(last, { engine });
  known.dispatched(spec('never seen', 'n'), { engine });
  // The type is that of its first call, the model that of its last.
  expect(of(known, 'a')).toMatchObject({
    model: 'n',
    identifiedBy: 'user',
    agentType: '000000ab',
    engine,
    tokens: { prompt: 0, output: 0 },
  });
  known.accepted({ spec: spec('a', 'n', { workflow: 'review' }) });
  expect(of(known, 'a')?.agentType).toBe('review');
  // The end of a program that has moved is told by the gateway that it moved to.
  for (const program of ['moved', 'back'] as ProgramId[]) {
    known.accepted({ spec: spec(program, 'm') });
    known.moved(program);
  }
  known.accepted({ spec: spec('back', 'm') });
  for (const program of ['moved', 'back']) known.programGone({ program } as unknown as ProgramGone, millis(0));
  expect(known.lastEnded().map(({ gone }) => gone.program)).toEqual(['back']);
  for (let index = 0; index < 501; index += 1)
    known.programGone({ program: index === 500 ? 'a' : `p${index}` } as unknown as ProgramGone, millis(index));
  expect(of(known, 'a')).toBeUndefined();
  expect(known.lastEnded().length).toBe(500);
  expect(known.lastEnded()[0]).toMatchObject({ gone: { program: 'a' }, told: { agentType: 'review' }, endedAtMs: 500 });
  expect(known.lastEnded().at(-1)).toMatchObject({ gone: { program: 'p1' }, told: undefined });
});

it('add up the calls of a program, also those that end after it, and after another of its name began', () => {
  const known = new KnownPrograms();
  const usage = { promptTokens: 10, outputTokens: 2 } as Usage;
  const outcome = 'completed';
  const [first, second, next] = [spec('a', 'm'), spec('a', 'm'), spec('a', 'm')];
  known.accepted({ spec: first });
  known.ended({ spec: first }, { usage, outcome, durationMs: 30 });
  known.accepted({ spec: second });
  known.ended({ spec: spec('never seen', 'm') }, { usage, outcome, durationMs: 30 });
  known.programGone({ program: 'a' } as unknown as ProgramGone, millis(0));
  known.accepted({ spec: next });
  known.ended({ spec: second }, { usage, outcome, durationMs: 30 });
  known.ended({ spec: next }, { usage: undefined, outcome, durationMs: 30 });
  expect(known.lastEnded()[0]?.told).toMatchObject({
    tokens: { prompt: 20, output: 4 },
    callsMs: 60,
    isAnswered: true,
  });
  expect(of(known, 'a')).toMatchObject({ tokens: { prompt: 0, output: 0 }, isAnswered: true });
  known.refused(next);
  known.refused(spec('never seen', 'm'));
  expect(of(known, 'a')?.isAnswered).toBe(false);
});

it('tell a program that is ended while calls of it run from the next one of its name', () => {
  const known = new KnownPrograms();
  const [id, removed] = ['a' as ProgramId, 'ended' as const];
  const gone = (cause: ProgramGone['cause']) => known.programGone({ program: id, cause } as ProgramGone, millis(0));
  for (const [model, by] of [
    ['m', 'operator'],
    ['n', undefined],
  ] as const) {
    known.accepted({ spec: spec('a', model) });
    known.programEnded(id, by);
  }
  known.accepted({ spec: spec('a', 'o') });
  expect([known.of({ id, removed }), of(known, 'a')]).toMatchObject([{ model: 'm', isStopped: true }, { model: 'o' }]);
  gone('ended');
  expect(known.of({ id, removed })).toMatchObject({ model: 'n', isStopped: false });
  gone('expired');
  expect(of(known, 'a')).toBeUndefined();
  gone('ended');
  expect(known.lastEnded().map(({ told }) => told?.model)).toEqual(['n', 'o', 'm']);
  // Outside of the table from the first, as that was full.
  known.accepted({ spec: spec('a', 'p') });
  known.programEnded(id);
  gone('evicted');
  expect(known.of({ id, removed })).toBeUndefined();
});

it('tell programs of one name apart that end in another order than they were ended', () => {
  const known = new KnownPrograms();
  const program = 'a' as ProgramId;
  const gone = () => known.programGone({ program, cause: 'ended' } as ProgramGone, millis(0));
  const [long, short] = [spec('a', 'm'), spec('a', 'n')];
  known.accepted({ spec: long });
  known.programEnded(program);
  known.accepted({ spec: short });
  known.ended({ spec: short }, { usage: undefined, outcome: 'completed', durationMs: 30 });
  known.programEnded(program);
  gone();
  expect(known.lastEnded()[0]?.told).toMatchObject({ model: 'n', isAnswered: true });
  gone();
  known.ended({ spec: long }, { usage: undefined, outcome: 'cancelled', durationMs: 30 });
  expect(known.lastEnded()[0]?.told).toMatchObject({ model: 'm', isAnswered: false });
});

it('count no more than 256 threads of a program, and forget them with it', () => {
  const known = new KnownPrograms();
  const program = 'p' as ProgramId;
  const accept = (thread: string) =>
    known.accepted({ spec: spec('p', 'm', { identity: { program, thread } as never }) });
  for (let n = 0; n < 300; n += 1) accept(`t${n}`);
  accept('t0');
  expect(of(known, 'p')?.threads?.size).toBe(256);
  expect(of(known, 'p')?.threads?.get('t0')).toBe(2);
  known.programGone({ program } as unknown as ProgramGone, millis(0));
  expect(of(known, 'p')).toBeUndefined();
});
