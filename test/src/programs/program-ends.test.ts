import { describe, expect, it, vi } from 'vitest';
import { programId } from '../../../src/index.js';
import { CompletionIndex } from '../../../src/programs/completion-index.js';
import { Desk } from '../../support/core-desk.js';
import { arrived, ended, woke } from '../../support/core-events.js';

const FAMILY = { id: 1, tokens: 50 };
/** Idle time after which a program is presumed to have ended, with the half-life of the tests' settings. */
const HORIZON_MS = 4 * 16_000;
const POLICY = { foresight: 'declared', msPerPromptToken: 0, msPerOutputToken: 10 } as const;

interface Played {
  readonly programs?: number;
  readonly calls?: number;
  readonly toolMs?: number;
  readonly announce?: boolean;
}

/** Programs of declared sizes come each 5 s; each makes calls with tools between them. */
function play(desk: Desk, { programs = 60, calls = 5, toolMs = 0, announce = false }: Played): void {
  desk.join('A', { window: 1_000 });
  const todo = Array.from({ length: programs }, (_, program) => {
    const serviceMs = 100 * 2 ** (program % 4);
    const stepMs = serviceMs + toolMs;
    return Array.from({ length: calls }, (__, call) => ({
      program,
      call,
      serviceMs,
      atMs: program * 5_000 + call * stepMs,
    }));
  });
  for (const { program, call, serviceMs, atMs } of todo.flat().sort((a, b) => a.atMs - b.atMs)) {
    desk.passTo(Math.max(desk.nowMs, atMs));
    const [id, name] = [`p${program}`, `p${program}/${call}`];
    const remaining = { prompt: 0, output: (serviceMs * (calls - call)) / POLICY.msPerOutputToken };
    desk.serve(name, { program: id, family: FAMILY, remaining }, { prompt: 100, output: 10, serviceMs });
    if (announce && call === calls - 1) desk.tell(ended(id));
  }
}

/** The service that is expected of a program with this declaration. */
function expectedMs(desk: Desk, declaredMs: number): number | undefined {
  const id = `asked${declaredMs}`;
  desk.arrive(id, { program: id, remaining: { prompt: 0, output: declaredMs / POLICY.msPerOutputToken } });
  const forecast = desk.scheduler.views.forecast(programId(id));
  return forecast?.source === 'declared' ? forecast.remainingMs : undefined;
}

describe('declared sizes are judged by whole programs', () => {
  it.each([
    ['whose tools are fast', { toolMs: 1_000 }],
    ['that pause beyond the horizon', { toolMs: 100_000 }],
    ['that pause beyond the horizon, in number', { toolMs: 100_000, programs: 200 }],
    ['that pause for a quarter of an hour', { toolMs: 900_000 }],
    ['that announce their ends', { toolMs: 100_000, announce: true }],
  ] as [string, Played][])('%s', (_, played) => {
    const desk = new Desk({ policy: POLICY, timeouts: { leaseMs: 1_800_000 } });
    play(desk, played);
    desk.pass(1_800_000);
    desk.tell(woke);
    for (const declaredMs of [500, 1_000, 2_000, 4_000])
      expect(expectedMs(desk, declaredMs)! / declaredMs, `${declaredMs} ms`).toBeCloseTo(1, 2);
  });

  it('soon after, where programs do not come back once they are presumed to have ended', () => {
    const desk = new Desk({ policy: POLICY });
    play(desk, { toolMs: 1_000 });
    desk.pass(HORIZON_MS);
    desk.tell(woke);
    expect(expectedMs(desk, 1_000)! / 1_000).toBeCloseTo(1, 2);
  });
});

/** Told to the index of all programs: types pass on what they are told. */
const toAll = ({ calls, contexts }: { readonly calls: [number][]; readonly contexts: unknown[] }): number[] =>
  calls.flatMap(([serviceMs], at) => ((contexts[at] as { all?: unknown }).all === undefined ? [serviceMs] : []));

describe('a program ends once, and with its whole service', () => {
  /** Ends and revivals that the index of all programs was told, and their service. */
  function told(act: (desk: Desk) => void, changes: ConstructorParameters<typeof Desk>[0] = {}) {
    const ends = vi.spyOn(CompletionIndex.prototype, 'ended');
    const revivals = vi.spyOn(CompletionIndex.prototype, 'revived');
    try {
      const desk = new Desk(changes).with('A', { window: 50 });
      act(desk);
      // Announced ends are learnt as late as presumed ones.
      desk.pass(HORIZON_MS);
      desk.tell(woke);
      return { ended: toAll(ends.mock), revived: toAll(revivals.mock) };
    } finally {
      ends.mockRestore();
      revivals.mockRestore();
    }
  }

  function run(desk: Desk, program: string, serviceMs: number): void {
    desk.serve(`${program}@${desk.nowMs}`, { program }, { afterMs: serviceMs });
  }

  const pause = (desk: Desk): void => {
    desk.pass(HORIZON_MS);
    desk.tell(woke);
  };
  const moved = { type: 'programMoved', program: programId('p') } as const;
  const leave = (desk: Desk): void => {
    run(desk, 'p', 100);
    desk.tell(moved);
  };

  it.each<[string, (desk: Desk) => void, number[], number[]?]>([
    [
      'when its client says so, also if it is presumed to have ended by then',
      (desk) => {
        run(desk, 'p', 100);
        desk.tell(ended('p'));
        run(desk, 'q', 200);
        pause(desk);
        desk.tell(ended('q'));
      },
      [100, 200],
    ],
    [
      'when its client says so while a call of it runs: at the end of that',
      (desk) => {
        run(desk, 'p', 100);
        desk.arrive('last', { program: 'p' });
        desk.tell(ended('p'));
        desk.pass(400);
        desk.finish('last');
      },
      [500],
    ],
    [
      'counts as a program less when it comes back, and again when it ends',
      (desk) => {
        run(desk, 'p', 100);
        desk.pass(HORIZON_MS);
        run(desk, 'p', 50);
        desk.tell(ended('p'));
      },
      [100, 150],
      [100],
    ],
    [
      'where it went, if another gateway runs its calls',
      (desk) => (leave(desk), pause(desk), desk.tell(ended('p'))),
      [],
    ],
    ['where it went, also if it ends soon after', (desk) => (leave(desk), desk.tell(ended('p'))), []],
    [
      'here, if it came back from where it went',
      (desk) => {
        leave(desk);
        pause(desk);
        desk.tell(arrived('back', { program: 'p' }));
        desk.finish('back');
        desk.tell(ended('p'));
      },
      [100],
    ],
    [
      'where it went, if it went once it was presumed to have ended',
      (desk) => {
        run(desk, 'p', 100);
        desk.pass(HORIZON_MS);
        desk.tell(moved);
        desk.tell(moved);
      },
      [100],
      [100],
    ],
  ])('%s', (_, act, ends, revived = []) => {
    expect(told(act)).toEqual({ ended: ends, revived });
  });

  it.each([HORIZON_MS / 2, 2 * HORIZON_MS])('when its lease is over before the horizon, or after: %i ms', (leaseMs) => {
    const act = (desk: Desk) => {
      run(desk, 'p', 100);
      pause(desk);
      desk.pass(2 * HORIZON_MS);
    };
    expect(told(act, { timeouts: { leaseMs } })).toEqual({ ended: [100], revived: [] });
  });

  it('when the table needs its row, had none for it, or is made smaller', () => {
    const act = (desk: Desk) => {
      run(desk, 'p', 100);
      desk.arrive('b', { program: 'q' });
      run(desk, 'r', 200);
      desk.finish('b');
      desk.configure({ limits: { programsMax: 2 } });
      run(desk, 's', 300);
      desk.configure({ limits: { programsMax: 1 } });
      desk.tell(woke);
    };
    expect(told(act, { limits: { programsMax: 1 } })).toEqual({ ended: [100, 200, 200, 300], revived: [] });
  });
});

describe('types are learnt whatever the lease and the half-life are', () => {
  it.each([
    { timeouts: { leaseMs: 60_000 }, admission: { halfLifeMs: 20_000 } },
    { timeouts: { leaseMs: 1_800_000 }, admission: { halfLifeMs: 600_000 } },
    { timeouts: { leaseMs: 1_800_000 }, admission: { halfLifeMs: 20_000 } },
  ])('%j', (changes) => {
    const desk = new Desk({ ...changes, policy: { order: 'learnt' } });
    play(desk, { programs: 500, calls: 2 });
    desk.pass(3_000_000);
    desk.arrive('new', { program: 'new', family: FAMILY });
    expect(desk.scheduler.views.forecast(programId('new'))?.source).toBe('learnt');
  });
});
