import { describe, expect, it } from 'vitest';
import type { EndedProgram, Engine } from '../../sidecar/admin/answers.js';
import { inOrder, sortOf, sumsOf, together } from '../../ui/select.js';
import { levelOf, stateOf, typeHint, typeName } from '../../ui/words.js';

it('has marks close to each other as one, with how often each came', () => {
  const marks = [0, 5, 14, 15, 40].map((at) => ({ at, text: at === 5 ? 'e is up again' : 'e is down' }));
  expect(together(marks, 15)).toEqual([
    { at: 0, until: 14, text: 'e is down (2 times), e is up again' },
    { at: 15, until: 15, text: 'e is down' },
    { at: 40, until: 40, text: 'e is down' },
  ]);
});

it('has ended programs in the order of the view, and leaves the list as it was', () => {
  const all = [2, 1, 3].map((calls, at) => ({ ended_at: at + 1, calls }) as EndedProgram);
  const order = (sort: string) => inOrder(all, sortOf({ tab: 'ended', sort })).map(({ ended_at: at }) => at);
  expect(['', 'ended_at', 'calls', '-calls'].map(order)).toEqual([
    [3, 2, 1],
    [1, 2, 3],
    [2, 1, 3],
    [3, 1, 2],
  ]);
  expect(all.map(({ ended_at: at }) => at)).toEqual([1, 2, 3]);
  expect(sortOf({ tab: '', sort: '' })).toBe('-current_wait_seconds');
});

it('says of a program that its calls hang, or that some wait while others run', () => {
  const row = { state: 'running', current_wait_seconds: 0, idle_seconds: 3, engines_down: [] } as const;
  const rows = [
    row,
    { ...row, engines_down: ['gpu-1'] },
    { ...row, current_wait_seconds: 2 },
    { ...row, state: 'idle' as const },
  ];
  expect(rows.map(stateOf)).toEqual(['running', 'hangs', 'run+wait', expect.stringMatching(/^idle 3/)]);
});

it('has no level for a program in the background', () => {
  expect([true, false].map((background) => levelOf({ background, level: 3 }))).toEqual(['bg', '3']);
});

it('calls an agent type by its own name, or shows a hash in short and says what it is', () => {
  expect(['26cd24b6', 'fix-bugs', 'cafe', null].map(typeName)).toEqual(['type 26cd', 'fix-bugs', 'cafe', '–']);
  expect(['26cd24b6', 'fix-bugs', null].map(typeHint)).toEqual([
    expect.stringMatching(/^26cd24b6\. .*x-maitred-workflow/),
    'fix-bugs',
    'not known here',
  ]);
});

describe('the sums of engines', () => {
  const engine = (state: Engine['state'], more: Partial<Engine> = {}): Engine =>
    ({
      state,
      in_flight: 2,
      working_set_tokens: 30,
      window: 4,
      rest_tokens: 50,
      capacity_tokens: 60,
      all_gateways: null,
      ...more,
    }) as Engine;

  const sums = (all: readonly Engine[]) => {
    const { inFlight, away, window, workingSet, gate } = sumsOf(all);
    return [inFlight, away, window, workingSet, gate];
  };

  it('have all calls in flight, and use and bounds of the engines that take calls', () => {
    const all = [
      engine('up'),
      engine('probation', { rest_tokens: null }),
      engine('down'),
      engine('draining'),
      engine('starting', { in_flight: 0 }),
    ];
    expect(sums([...all, engine('drained', { in_flight: 0 })])).toEqual([8, 4, 8, 60, 110]);
    const whole = { window: 9, in_flight: 7, working_set_tokens: 80 };
    expect(sums([engine('up', { all_gateways: whole })])).toEqual([7, 0, 9, 80, 50]);
  });

  it('have no bound without engines that run calls, or where one has none', () => {
    for (const list of [
      [],
      [engine('drained')],
      [engine('up'), engine('up', { window: null, rest_tokens: null, capacity_tokens: null })],
    ])
      expect(sumsOf(list)).toMatchObject({ window: null, gate: null });
  });
});
