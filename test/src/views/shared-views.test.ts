import { expect, it } from 'vitest';
import { engineId, programId } from '../../../src/index.js';
import { Desk } from '../../support/core-desk.js';
import { joined, shared } from '../../support/core-events.js';

/** A full engine: `p` runs there, and a call of a new program and one with attained service wait. */
function fullDesk(tenants: 'none' | 'weighted'): Desk {
  const desk = new Desk({ policy: { tenants, firstQuantumMs: 100, countPrompt: false } });
  desk.tell(joined('A', { window: 1 }));
  desk.serve('old', { program: 'q' }, { afterMs: 150 });
  desk.arrive('runs', { program: 'p', prompt: 40 });
  desk.arrive('new', { program: 'r' });
  desk.arrive('next', { program: 'q' });
  return desk;
}

const demandOf = (desk: Desk) => [...desk.scheduler.views.demands()].find(({ engine }) => engine === engineId('A'));

it('other gateways hear this one’s own load, not theirs', () => {
  const desk = fullDesk('none');
  const own = demandOf(desk)?.loadTokens;
  desk.tell(shared('A', { loadTokens: 5_000 as never }));
  expect(demandOf(desk)).toMatchObject({ inFlight: 1, loadTokens: own });
});

it('waiting calls are told by level, and as one level where tenants are told apart', () => {
  expect(demandOf(fullDesk('none'))?.waiting).toEqual([1, 1]);
  expect(demandOf(fullDesk('weighted'))?.waiting).toEqual([2]);
});

it('nothing waits for an engine that is lost', () => {
  const desk = fullDesk('none');
  desk.tell({ type: 'engineLost', engine: engineId('A') });
  expect(demandOf(desk)?.waiting ?? []).toEqual([]);
});

/** Room for 900 tokens: `p` takes 500, `q` returns to a small context, and a new call of a better level is too large. */
it.each([
  [600, [0, 2]],
  [100, [1, 1]],
])('a new call of %i tokens counts at the level of the first that has room: %j', (prompt, waiting) => {
  const desk = new Desk({ policy: { firstQuantumMs: 100, countPrompt: false }, admission: { gate: 0.9 } });
  desk.tell(joined('A', { window: 1, capacity: 1_000 }));
  desk.serve('old', { program: 'q', prompt: 50 }, { afterMs: 150, prompt: 50, output: 10 });
  desk.arrive('runs', { program: 'p', prompt: 500 });
  desk.arrive('new', { program: 'r', prompt });
  desk.arrive('next', { program: 'q', prompt: 60 });
  expect(demandOf(desk)?.waiting).toEqual(waiting);
});

it('calls of which none has room count at the last level', () => {
  const desk = new Desk({ policy: { firstQuantumMs: 100, countPrompt: false }, admission: { gate: 0.9 } });
  desk.tell(joined('A', { window: 2, capacity: 1_000 }));
  desk.serve('old', { program: 'q', prompt: 50 }, { afterMs: 150, prompt: 50, output: 10 });
  desk.arrive('runs', { program: 'p', prompt: 800 });
  desk.arrive('new', { program: 'r', prompt: 600 });
  desk.arrive('next', { program: 'q', prompt: 600 });
  expect(demandOf(desk)?.waiting).toEqual([0, 2]);
});

it('background calls are counted apart, and a program stands where its calls do', () => {
  const desk = fullDesk('none');
  desk.pass(1_000);
  desk.arrive('flex', { program: 's', background: true });
  const { views } = desk.scheduler;
  expect(views.queue()).toMatchObject({ waiting: 3, background: 1, longestWaitMs: 1_000 });
  const levels = ['p', 'q', 's'].map((id) => views.program(programId(id)));
  expect(levels).toMatchObject([{ level: 0, background: false }, { level: 1 }, { level: 13, background: true }]);
});
