import { expect, it } from 'vitest';
import { readProgramQuery } from '../../../sidecar/admin/query.js';
import type { ProgramView } from '../../../src/index.js';

const waits = (waitingMs: number, background = false) => ({ state: 'waiting', waitingMs, background });
const RUNS = { state: 'running', waitingMs: 0, background: false };

const row = (id: string, threads: readonly object[], more: object = {}) =>
  ({
    id,
    threads,
    activeCalls: threads.length,
    background: false,
    lastArrivalAtMs: 0,
    ...more,
  }) as unknown as ProgramView;

const ROWS = [
  row('a-idle', [], { lastCompletionAtMs: 5 }),
  row('b-idle-since-later', [], { lastCompletionAtMs: 9 }),
  row('c-background', [waits(900, true)], { background: true }),
  row('d-background', [waits(800, true)], { background: true }),
  row('e-runs', [RUNS]),
  row('f-ends', [RUNS], { removed: 'ended' }),
  row('g-waits', [RUNS, waits(10), waits(999, true)]),
  row('h-waits-longest', [waits(20)]),
];

it.each([
  ['-', 'hgfecdba'],
  // Those that wait stay first.
  ['', 'ghfedcba'],
])('orders programs by who waits for an answer, and what runs or waits before what is idle (%s)', (sign, order) => {
  const { compare } = readProgramQuery(new URLSearchParams(`sort=${sign}current_wait_seconds`));
  expect(
    ROWS.toSorted(compare)
      .map(({ id }) => id.charAt(0))
      .join(''),
  ).toBe(order);
});
