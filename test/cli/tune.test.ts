import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { answerOf } from '../../cli/tune/answer.js';
import { candidatesOf, type Setting } from '../../cli/tune/candidates.js';
import { objectives } from '../../cli/tune/objective.js';
import { halvesOf, search } from '../../cli/tune/search.js';
import type { Plan, Variant } from '../../cli/sim/plan.js';
import type { RunReport } from '../../cli/sim/run.js';
import type * as CommandLine from '../../cli/program.js';
import { configSchema } from '../../sidecar/config/index.js';
import type { AgentProgram } from '../../workloads/index.js';
import { run } from '../support/command-line.js';
import { fileOf } from '../support/folder.js';
import { recorded } from '../support/sim-command.js';
import { ROOT } from '../support/tree.js';

/** As it is built, because threads run from files. */
const { main } = (await import(`${ROOT}dist/cli/program.js`)) as typeof CommandLine;
const tune = (...args: readonly string[]) => run(['tune', ...args], {}, main);

const PRESENT: Setting = { policy: 'plas', balancer: 'program-affinity', window: 'auto', gate: 0.9 };
const SLO = objectives('ttft p99 < 5s');

const same = (value: number) => ({ count: 9, mean: value, p50: value, p95: value, p99: value, max: value });
const report = (variant: number, seed: number, seconds: number, ttft: number) =>
  ({
    variant,
    seed,
    complete: true,
    failed: 0,
    program_seconds: same(seconds),
    ttft_seconds: same(ttft),
    seconds_per_token: same(1),
    slowdown: same(1),
    makespan_seconds: 1,
    prefix_hit_rate: null,
  }) as unknown as RunReport;

/** Settings whose mean program times and first tokens are these, the present one first. */
const planOf = (settings: readonly unknown[]) =>
  ({ variants: settings.map((_, id) => ({ id }) as unknown as Variant), seeds: [1, 2, 3], isExact: false, margin: 0.02 }) as unknown as Plan; // prettier-ignore

function searchAmong(settings: readonly (readonly [seconds: number, ttft: number])[], runsMax = Infinity) {
  const played: number[] = [];
  const found = search({
    plan: planOf(settings),
    objectives: SLO,
    play: ({ variants, seeds }) => {
      const combinations = variants.flatMap((variant, at) => seeds.map((seed) => ({ at, seed, id: (variant as unknown as { id: number }).id }))); // prettier-ignore
      const made = combinations.slice(0, Math.max(0, runsMax - played.length));
      played.push(...made.map(({ id }) => id));
      return Promise.resolve(made.map(({ at, seed, id }) => report(at, seed, settings[id]![0] + seed / 100, settings[id]![1]))); // prettier-ignore
    },
  });
  return found.then((result) => ({ ...result, played }));
}

describe('an objective', () => {
  it('is read under short names and those of load', () => {
    const ttft = { metric: 'ttft_seconds', statistic: 'p99', limitSeconds: 5 };
    expect(objectives('ttft p99 < 5s')).toMatchObject([ttft]);
    expect(objectives('ttft_seconds.p99 < 5')).toMatchObject([ttft]);
    expect(objectives('token mean<60ms', SLO)).toMatchObject([ttft, { metric: 'seconds_per_token', limitSeconds: 0.06 }]); // prettier-ignore
  });
});

describe('a search', () => {
  it('takes what meets the objectives, even if it is slower', async () => {
    expect(await searchAmong([[10, 9], [12, 4], [11, 6]])).toMatchObject({ choice: 1 }); // prettier-ignore
  });

  it('takes the fastest of those, and gives only the best a second look', async () => {
    const { choice, played } = await searchAmong([[10, 4], [9, 4], [5, 4], [4, 6], [8, 4], [20, 4], [21, 4], [22, 4]]); // prettier-ignore
    expect(choice).toBe(2);
    expect(played.slice(8).filter((id) => id === 7)).toEqual([]);
    expect(played.filter((id) => id === 2)).toHaveLength(3);
  });

  it('keeps the present setting where none meets them, and names the closest', async () => {
    expect(await searchAmong([[10, 9], [8, 8], [30, 6]])).toMatchObject({ choice: 0, closest: 2 }); // prettier-ignore
  });

  it('keeps it where no other is certainly faster', async () => {
    expect(await searchAmong([[10, 4], [9.9, 4]])).toMatchObject({ choice: 0 }); // prettier-ignore
  });

  it('makes do with the runs that time allowed, if the present setting is among them', async () => {
    expect(await searchAmong([[10, 4], [5, 4], [4, 4]], 2)).toMatchObject({ tried: 2, choice: 0 }); // prettier-ignore
    await expect(searchAmong([[10, 4]], 0)).rejects.toThrow('--time'); // prettier-ignore
  });
});

describe('the settings to try', () => {
  it('begin with the present one, differ, and are the same for a seed', () => {
    const settings = candidatesOf(PRESENT, 2, 40, 7);
    expect(settings[0]).toBe(PRESENT);
    expect(new Set(settings.map((each) => JSON.stringify(each))).size).toBe(40);
    expect(candidatesOf(PRESENT, 2, 40, 7)).toEqual(settings);
    expect(candidatesOf(PRESENT, 2, 40, 8)).not.toEqual(settings);
  });

  it('have one of no scheduling, whatever its window and gate', () => {
    const present: Setting = { ...PRESENT, policy: 'pass-through' };
    const settings = candidatesOf(present, 1, 200, 1);
    expect(settings[0]).toBe(present);
    expect(settings.filter(({ policy }) => policy === 'pass-through')).toHaveLength(1);
  });

  it('leave the balancer of one engine alone, and end where there are no more', () => {
    const settings = candidatesOf(PRESENT, 1, 200, 1);
    expect(new Set(settings.map(({ balancer }) => balancer))).toEqual(new Set(['program-affinity']));
    expect(settings.length).toBeLessThanOrEqual(3 * 6 * 6 + 1);
  });
});

describe('the answer', () => {
  const other = { ...PRESENT, window: 32 };
  const runs = (ttft: number) => [1, 2, 3].flatMap((seed) => [report(0, seed, 10 + seed, 9), report(1, seed, 5 + seed, ttft)]); // prettier-ignore
  const answer = (unseen: number) =>
    answerOf({ plan: planOf([0, 1]), settings: [PRESENT, other], objectives: SLO, tried: 9, closest: { setting: other, runs: [report(1, 1, 5, 4)] }, seen: runs(4), unseen: runs(unseen) }); // prettier-ignore

  it('says whether the unseen half confirms it', () => {
    expect(answer(4)).toMatchObject({ holds: true, verdict: expect.stringMatching(/holds on the second half/) as unknown }); // prettier-ignore
    expect(answer(6)).toMatchObject({ holds: false, verdict: expect.stringMatching(/misses ttft p99 < 5s on the second/) as unknown }); // prettier-ignore
  });
});

describe('halves', () => {
  it('are parted by time of arrival, and share no program', () => {
    const programs: AgentProgram[] = [5, 1, 9, 3, 7].map((arrivalMs) => ({ id: `at-${arrivalMs}`, arrivalMs, calls: [] })); // prettier-ignore
    const halves = halvesOf({ type: 'trace', file: 'f', format: 'maitred', programs });
    expect(halves.map((half) => (half.type === 'trace' ? half.programs.map(({ arrivalMs }) => arrivalMs) : []))).toEqual([[1, 3, 5], [7, 9]]); // prettier-ignore
  });
});

describe('maitred tune', () => {
  it('prints a file that the gateway takes', async () => {
    const { code, out } = await tune('--workload', 'chat', '--rate', '5', '--programs', '8', '--settings', '3', '--slo', 'ttft p99 < 1h'); // prettier-ignore
    expect(code).toBe(0);
    expect(configSchema.parse(parse(out)).policy.name).toBe('plas');
    expect(out).toMatch(/^# .*second half/m);
  }, 60_000);

  it('ends with 1 where no setting meets the objective', async () => {
    const file = fileOf('timed.jsonl', [0, 50, 100, 150].map((arrivalMs) => recorded(`p${arrivalMs}`, { arrivalMs })).join('')); // prettier-ignore
    const { code, out } = await tune('--trace', file, '--settings', '2', '--slo', 'program mean < 1ms', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ holds: false, first_half: [{ programs: 2 }], second_half: [{ programs: 2 }] }); // prettier-ignore
  }, 60_000);

  it.each([
    ['--workload mixed --rate 1 --slo p99<5', 'METRIC STATISTIC'],
    ['--workload mixed --rate 1 --slo tft.p99<5s', 'ttft'],
    ['--workload mixed --rate 1 --slo ttft.p98<5s', 'p9'],
    ['--workload mixed --rate 1 --settings 1', 'from 2'],
    ['--workload mixed', '--rate'],
    ['--rate 1', '--workload or --trace'],
  ])('%s is refused', async (line, said) => {
    const { code, out, errors } = await tune(...line.split(' '));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(errors.join()).toContain(said);
  });
});
