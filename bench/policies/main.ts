/**
 * The effect of each policy on programs, in virtual time: the gateway's core before the stand-in engine's model.
 *
 *     npm run bench:policies [-- --quick] [-- --production]
 *
 * Every number is model time, so it does not depend on the machine; the same command prints the same table. Lower is
 * better, except for hits. Limits and timeouts are the gateway's own. The mean covers completed programs only; beside
 * it stand the programs lost, calls refused for good, and retries. With `--production`, under docs/SIMULATOR.md's
 * conditions. Arrivals and sizes come from one fixed seed. Workloads: `agents`, coding agents with growing contexts
 * that outgrow the KV cache; `chat`, people who read between turns; `one-shot`, independent requests; `mixed`, all
 * three.
 */
import { makeBalancer } from '../../loadbalancer/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import { CONDITIONS, makeSteps, PRESETS, type ProgramRecord, runWorld, type SimPolicyName } from '../../sim/index.js';
import type { AgentProgram } from '../../workloads/index.js';
import type { SchedulerConfig } from '../../src/index.js';
import { percentile } from '../numbers.js';
import { agents, chat, mixed, oneShot } from './workloads.js';

interface Row {
  readonly label: string;
  readonly policy: SimPolicyName;
  readonly admission?: Partial<SchedulerConfig['admission']>;
}

const ROWS: readonly Row[] = [
  { label: 'pass-through', policy: 'pass-through' },
  { label: 'fcfs-window, no gate', policy: 'fcfs-window', admission: { gate: 0 } },
  { label: 'fcfs-window + gate', policy: 'fcfs-window' },
  { label: 'las-decayed + gate', policy: 'las-decayed' },
  { label: 'plas, no gate', policy: 'plas', admission: { gate: 0 } },
  { label: 'plas + gate (default)', policy: 'plas' },
  { label: 'plas + gate, half-life 60 s', policy: 'plas', admission: { halfLifeMs: 60_000 } },
  {
    label: 'plas + gate, turns from 30 s on, one a second',
    policy: 'plas',
    admission: { reserveMs: 30_000, turnMs: 1000 },
  },
];

interface Load {
  readonly title: string;
  readonly programs: () => Iterable<AgentProgram>;
  readonly count: number;
  readonly ratePerSecond: number;
  readonly engines: number;
  readonly kvTokens: number;
}

function run(row: Row, { programs, count, ratePerSecond, engines, kvTokens }: Load): string[] {
  const base = loadConfig({});
  const config = {
    ...base,
    admission: { ...base.admission, ...row.admission },
  };
  const records: ProgramRecord[] = [];
  const result = runWorld({
    programs: programs(),
    maxPrograms: count,
    arrivals: { type: 'open', ratePerSecond, cv: 1 },
    seed: 1,
    engines,
    conditions,
    engine: { preset: { ...PRESETS['llama-3.1-8b-a100'], kvTokens }, blockSize: 16, scheduling: 'fcfs' },
    scheduler: () => makeSteps(row.policy, config, makeBalancer(base.balancer)),
    observer: { programEnded: (record) => void records.push(record) },
    alone: false,
  });
  const completed = records.filter(({ outcome }) => outcome === 'completed');
  const seconds = completed.map(({ arrivedMs, endedMs }) => (endedMs - arrivedMs) / 1000);
  const perToken = completed.map(({ outputTokens }, index) => (1000 * (seconds[index] ?? 0)) / outputTokens);
  const longestQueueMs = Math.max(...records.map((record) => record.longestQueueMs));
  const total = (key: 'hitTokens' | 'queriedTokens') => sum(result.engines.map((engine) => engine[key]));
  const cells = [
    sum(seconds) / seconds.length,
    percentile(seconds, 0.5),
    percentile(seconds, 0.99),
    sum(perToken) / perToken.length,
    longestQueueMs / 1000,
    result.makespanMs / 1000,
  ];
  const totalOf = (counts: Readonly<Record<string, number>>) => sum(Object.values(counts));
  const lost = totalOf(result.programOutcomes) - completed.length - (result.programOutcomes['cancelled'] ?? 0);
  const refused = totalOf(result.callOutcomes) - (result.callOutcomes['completed'] ?? 0);
  const hits = (100 * total('hitTokens')) / total('queriedTokens');
  const [mean = '', ...others] = cells.map((value) => value.toFixed(value < 100 ? 1 : 0));
  return [mean, ...[lost, refused, totalOf(result.retries)].map(String), ...others, `${hits.toFixed(0)} %`];
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

function print(load: Load): void {
  console.log(`\n### ${load.title}: ${load.count} programs, ${load.engines} engine(s) of ${load.kvTokens} KV tokens\n`);
  console.log(
    '| policy | mean s | lost | refused | retried | p50 s | p99 s | ms per token | longest wait s | makespan s | hits |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|---|');
  for (const row of ROWS) console.log(`| ${[row.label, ...run(row, load)].join(' | ')} |`);
}

const conditions = CONDITIONS[process.argv.includes('--production') ? 'production' : 'none'];
const scale = process.argv.includes('--quick') ? 0.1 : 1;
const count = (programs: number): number => Math.ceil(programs * scale);
const LOADS: readonly Load[] = [
  { title: 'agents', programs: agents, count: count(250), ratePerSecond: 0.25, engines: 2, kvTokens: 432_000 },
  { title: 'chat', programs: chat, count: count(600), ratePerSecond: 1.5, engines: 1, kvTokens: 160_000 },
  { title: 'one-shot', programs: oneShot, count: count(3000), ratePerSecond: 8, engines: 1, kvTokens: 432_000 },
  { title: 'mixed', programs: mixed, count: count(400), ratePerSecond: 0.7, engines: 2, kvTokens: 432_000 },
];
for (const load of LOADS) print(load);
