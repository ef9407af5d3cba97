import { describe, expect, it } from 'vitest';
import type { RunMeasures } from '../../../lab/measure/run.js';
import type { PolicyName } from '../../../src/index.js';
import { runLive, type LiveRun } from './live.js';
import { agreementTable, figureOf, outsideRange, titleOf, type Figure, type Row } from './report.js';
import { agents, counted, fleet, spokenAgents, type Setting } from './setting.js';
import { simulate } from './simulated.js';

/**
 * The simulator and the gateway run the same scheduler, on engines of the same model. So the same programs must give
 * the same results in virtual time and, through HTTP, in real time.
 */
const POLICIES = ['pass-through', 'fcfs-window', 'plas'] as const satisfies readonly PolicyName[];
/** Simulated runs differ by up to a fifth among themselves: a live run may lie this far outside their range. */
const OUTSIDE_MAX = 0.1;
/** Simulated runs of each policy. */
const VARIANTS = 5;

const simulated = (setting: Setting, policy: PolicyName): RunMeasures[] =>
  Array.from({ length: VARIANTS }, (_, variant) => simulate(setting, policy, variant));

const programSeconds = ({ program_seconds }: Pick<RunMeasures, 'program_seconds'>) => program_seconds.mean ?? NaN;
const msPerToken = ({ seconds_per_token }: Pick<RunMeasures, 'seconds_per_token'>) =>
  1000 * (seconds_per_token.mean ?? NaN);

function rowOf(setting: Setting, { policy, measures, hitRate }: LiveRun): Row {
  const runs = simulated(setting, policy);
  const { completed, failed, calls, prompt_tokens, output_tokens } = runs[0] as RunMeasures;
  expect(measures, `${policy}: what was run`).toMatchObject({ completed, failed, calls, prompt_tokens, output_tokens });
  return {
    policy,
    programSeconds: figureOf(runs.map(programSeconds), programSeconds(measures)),
    msPerToken: figureOf(runs.map(msPerToken), msPerToken(measures)),
    hits: figureOf(
      runs.map(({ prefix_hit_rate }) => prefix_hit_rate ?? NaN),
      hitRate,
    ),
  };
}

/** Pairs of policies that all simulated runs order alike, and the live runs in reverse. */
function swapped(rows: readonly Row[], of: (row: Row) => Figure): string[] {
  return rows.flatMap((better) =>
    rows
      .filter((worse) => of(better).most < of(worse).least && of(better).live >= of(worse).live)
      .map((worse) => `${better.policy} before ${worse.policy}`),
  );
}

function show(...texts: readonly string[]): void {
  process.stdout.write(`\n${texts.join('\n\n')}\n\n`);
}

describe.each([
  ['agents whose contexts outgrow the caches', agents],
  ['programs of all sorts before a narrow window', fleet],
])('%s', (_, make) => {
  it('rank policies and take as long as simulated', async () => {
    const setting = await make();
    const rows: Row[] = [];
    for (const policy of POLICIES)
      rows.push(...(await runLive(setting, [policy])).runs.map((run) => rowOf(setting, run)));
    show(titleOf(setting), agreementTable(rows));
    expect(swapped(rows, (row) => row.programSeconds)).toEqual([]);
    expect(swapped(rows, (row) => row.msPerToken)).toEqual([]);
    for (const row of rows) expect(outsideRange(row.programSeconds), row.policy).toBeLessThan(OUTSIDE_MAX);
  });
});

describe('two targets at once', () => {
  it('compare as simulated, with the messages that were recorded', async ({ skip }) => {
    const setting = await spokenAgents();
    if (setting === undefined) return skip('there is no recording in ../shared/traces');
    const live = await runLive(setting, ['pass-through', 'plas']);
    const rows = live.runs.map((run) =>
      rowOf({ ...setting, programs: counted(setting.programs, run.promptTokens) }, run),
    );
    const [before, after] = rows.map((row) => row.programSeconds.simulated) as [number, number];
    const { ratio, low, high, pairs } = live.ratio;
    show(
      titleOf(setting),
      agreementTable(rows),
      `plas / pass-through in the mean: simulated ${(after / before).toFixed(3)}, live ${ratio?.toFixed(3)} (95 % interval ${low?.toFixed(3)} to ${high?.toFixed(3)}, ${pairs} pairs)`,
    );
    expect(after / before).toBeGreaterThan(low ?? NaN);
    expect(after / before).toBeLessThan(high ?? NaN);
  });
});
