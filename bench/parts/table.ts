import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { overSamePrograms, pairedRatio, runCase, type Case, type RunMeasures } from '../../lab/index.js';
import { printTable } from '../numbers.js';
import { HOOKS, surroundings } from '../report/recordings.js';
import { PARTS, type LoadName, type Part } from './parts.js';

type Scenario = Case['scenario'];

const A100 = { engines: 1, machine: 'llama-3.1-8b-a100' } as const;
const TWO = { engines: 2, machine: 'qwen3-coder-30b-a3b' } as const;

const LOADS: Readonly<Record<LoadName, Scenario>> = {
  agents: { programs: { recording: 'mini-swe-agent' }, count: 250, ratePerSecond: 0.25, ...A100, engines: 2 },
  coding: { programs: { workload: 'coding' }, count: 200, ratePerSecond: 0.2, ...TWO },
  mixed: { programs: { workload: 'mixed' }, count: 600, ratePerSecond: 0.8, ...A100 },
  chat: { programs: { workload: 'chat' }, count: 1000, ratePerSecond: 4, ...A100 },
  react: { programs: { workload: 'react' }, count: 1000, ratePerSecond: 4, ...A100 },
  fleet: { programs: { workload: 'fleet' }, count: 400, ratePerSecond: 0.9, ...A100, engines: 2 },
  tenants: { programs: { workload: 'tenants' }, count: 400, ratePerSecond: 0.8, ...TWO, alone: true },
};

/** Figures of a run. Each is smaller where programs fare better. */
const FIGURES: Readonly<Record<string, (run: RunMeasures) => number | null>> = {
  mean: (run) => run.program_seconds.mean,
  p99: (run) => run.program_seconds.p99,
  'a token': (run) => run.seconds_per_token.mean,
};

/**
 * Lines of each optional part, and its time over the time without it, on the loads that it is made for: below 1 the
 * part makes programs faster. Over programs that both runs completed, under the conditions `production` of
 * docs/SIMULATOR.md. Virtual time, so the figures do not depend on the machine. The quick form is too small to differ.
 */
export async function benchParts(isQuick: boolean): Promise<void> {
  const seeds = isQuick ? [1] : [1, 2, 3];
  const around = await surroundings(['mini-swe-agent']);
  const runs = new Map<string, RunMeasures[]>();
  const measured = (load: LoadName, setup: Part['with']): RunMeasures[] => {
    const { count } = LOADS[load];
    const scenario: Scenario = {
      ...LOADS[load],
      conditions: 'production',
      count: isQuick ? Math.ceil(count / 10) : count,
    };
    const key = JSON.stringify([load, setup]);
    let known = runs.get(key);
    if (known === undefined) {
      known = seeds.map((seed) => runCase({ scenario, setup }, seed, around, HOOKS));
      runs.set(key, known);
    }
    return known;
  };
  const rows = PARTS.flatMap((part) =>
    part.loads
      .filter((load) => load !== 'agents' || around.recordings['mini-swe-agent'] !== undefined)
      .map((load) => rowOf(part, load, measured(load, part.without), measured(load, part.with))),
  );
  printTable(['part', 'lines', 'load', ...Object.keys(FIGURES), 'lost without', 'lost with'], rows);
}

function rowOf(part: Part, load: LoadName, without: readonly RunMeasures[], own: readonly RunMeasures[]): string[] {
  const ratios = Object.values(FIGURES).map((figure) => {
    const pairs = without.flatMap((run, at) => {
      const [a, b] = overSamePrograms(run, own[at] as RunMeasures).map(figure) as [number | null, number | null];
      return a === null || b === null ? [] : [[a, b] as const];
    });
    return pairedRatio(pairs).ratio?.toFixed(2) ?? '-';
  });
  const lost = (all: readonly RunMeasures[]) => String(all.reduce((sum, run) => sum + run.lost, 0));
  return [part.name, String(linesOf(part.files)), load, ...ratios, lost(without), lost(own)];
}

/** Lines of the sources that a path names, without tests. */
function linesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (existsSync(path) ? linesUnder(path) : 0), 0);
}

function linesUnder(path: string): number {
  if (statSync(path).isDirectory())
    return readdirSync(path).reduce((sum, name) => sum + linesUnder(join(path, name)), 0);
  return /\.(ts|tsx|css|py)$/.test(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
}
