import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pairedRatio, pairOf, type RunMeasures, type Scenario, type Settings, type Setup } from '../lab/index.js';
import { printTable } from './numbers.js';
import { STANDING } from './order.js';
import { Runs } from './report/recordings.js';

/** Loads of the table: of the standing ones, and tenants beside one another. */
const LOADS = {
  agents: STANDING['mini-swe-agent, 0.25/s'],
  coding: STANDING['coding, 0.2/s'],
  mixed: STANDING['mixed, 0.8/s'],
  chat: STANDING['chat, 4/s'],
  react: STANDING['react, 4/s'],
  fleet: STANDING['fleet, 0.9/s'],
  tenants: {
    ...STANDING['coding, 0.2/s'],
    programs: { workload: 'tenants' },
    count: 400,
    ratePerSecond: 0.8,
    alone: true,
  },
} satisfies Record<string, Scenario>;
type LoadName = keyof typeof LOADS;

/** A part of the product that a setting switches off or on. */
interface Part {
  readonly name: string;
  /** Files and folders that serve only this part. */
  readonly files: readonly string[];
  /** The schedulers compared, unless they are the default one. */
  readonly without?: Setup;
  readonly with?: Setup;
  readonly loads: readonly LoadName[];
}

const plas = (settings: Settings = {}, more: Partial<Setup> = {}): Setup => ({ policy: 'plas', settings, ...more });
const DEFAULT = plas();
/** A day: no call ever reaches the limit. */
const NEVER = 86_400_000;

const PARTS: readonly Part[] = [
  {
    name: 'gate (working set, claims, cache contents)',
    files: ['src/kv/working-set.ts', 'src/kv/idle-claims.ts', 'src/kv/cache-contents.ts', 'src/kv/context.ts'],
    without: plas({ 'admission.gate': 0 }),
    loads: ['agents', 'coding', 'mixed', 'fleet'],
  },
  {
    name: 'order by the rest (without: fcfs-window)',
    files: [
      'src/policies/plas.ts',
      'src/policies/mlfq-levels.ts',
      'src/programs/completion-index.ts',
      'src/programs/lessons.ts',
    ],
    without: { policy: 'fcfs-window' },
    loads: ['agents', 'coding', 'mixed', 'react', 'fleet'],
  },
  {
    name: 'knee (step time, batch)',
    files: ['src/placement/knee.ts', 'src/engines/step-time.ts', 'src/engines/batch.ts'],
    without: plas({ 'admission.batching': 'none' }),
    loads: ['mixed', 'react', 'fleet'],
  },
  {
    name: 'anti-starvation (escalation)',
    files: ['src/placement/escalator.ts', 'src/programs/escalation.ts'],
    without: plas({ 'starvation.beta': 1e6, 'starvation.waitMsMax': NEVER, 'timeouts.queueMs': 8 * NEVER }),
    loads: ['agents', 'mixed', 'fleet'],
  },
  {
    name: 'context forecast',
    files: ['src/kv/context-forecast.ts', 'src/kv/context-growth.ts'],
    without: plas({ 'admission.forecast': 'none' }),
    loads: ['agents', 'coding', 'chat'],
  },
  {
    name: 'shared prefixes',
    files: ['src/kv/shared-prefixes.ts'],
    without: plas({ 'admission.sharedPrefixes': 'none' }),
    loads: ['agents', 'coding', 'fleet'],
  },
  {
    name: 'learnt retention (without: half-life)',
    files: ['src/policies/retention-learnt.ts'],
    without: plas({ 'admission.retention': 'half-life' }),
    loads: ['agents', 'coding', 'chat', 'fleet'],
  },
  {
    name: 'first prompts ranked by length (countPrompt)',
    files: [],
    without: plas({ 'policy.countPrompt': false }),
    loads: ['agents', 'mixed', 'fleet'],
  },
  {
    name: 'foresight: declared by clients',
    files: ['src/foresight', 'sidecar/calls/declaration.ts'],
    with: plas({ 'policy.foresight': 'declared' }),
    loads: ['agents', 'mixed', 'fleet'],
  },
  {
    name: 'program affinity (without: least-loaded)',
    files: ['loadbalancer/program-affinity.ts'],
    without: plas({}, { balancer: 'least-loaded' }),
    loads: ['agents', 'coding', 'fleet'],
  },
  {
    name: 'spilling',
    files: [],
    without: plas({ 'balancer.spillMs': NEVER }),
    loads: ['agents', 'coding', 'fleet'],
  },
  {
    name: 'tenants by weight',
    files: ['src/programs/accounts.ts', 'src/programs/account.ts', 'src/queues/turn-queue.ts'],
    with: plas({ 'policy.tenants': 'weighted' }),
    loads: ['tenants'],
  },
];

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
  const runs = await Runs.over(['mini-swe-agent'], isQuick);
  const rows = PARTS.flatMap((part) =>
    part.loads.flatMap((load) => {
      const scenario: Scenario = { ...LOADS[load], conditions: 'production' };
      return runs.can(scenario)
        ? [rowOf(part, load, runs.of(scenario, part.without ?? DEFAULT), runs.of(scenario, part.with ?? DEFAULT))]
        : [];
    }),
  );
  printTable(['part', 'lines', 'load', ...Object.keys(FIGURES), 'lost without', 'lost with'], rows);
}

function rowOf(part: Part, load: LoadName, without: readonly RunMeasures[], own: readonly RunMeasures[]): string[] {
  const ratios = Object.values(FIGURES).map((figure) => {
    const pairs = without.flatMap((run, at) => pairOf(run, own[at] as RunMeasures, figure));
    return pairedRatio(pairs).ratio?.toFixed(2) ?? '-';
  });
  const lost = (all: readonly RunMeasures[]) => String(all.reduce((sum, run) => sum + run.lost, 0));
  return [part.name, String(linesOf(part.files)), load, ...ratios, lost(without), lost(own)];
}

/** Lines of the sources that paths name, without tests. */
function linesOf(paths: readonly string[]): number {
  const files = paths
    .filter((path) => existsSync(path))
    .flatMap((path) =>
      statSync(path).isDirectory()
        ? readdirSync(path, { recursive: true }).map((name) => join(path, String(name)))
        : path,
    );
  const sources = files.filter((path) => /\.(ts|tsx|css|py)$/.test(path));
  return sources.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);
}
