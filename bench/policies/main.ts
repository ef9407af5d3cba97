/**
 * What each policy does to programs, in virtual time: the gateway's core before the stand-in engine's model.
 *
 *     npm run bench:policies [-- --quick]
 *
 * Every number is model time, so it does not depend on the machine; the same command prints the same table. Lower is
 * better, except for hits. Arrivals and sizes come from one fixed seed. Workloads: `agents`, coding agents with growing contexts that
 * outgrow the KV cache; `chat`, people who read between turns; `one-shot`, independent requests; `mixed`, all three.
 */
import { makeBalancer } from '../../loadbalancer/index.js';
import type { PolicyName, SchedulerConfig } from '../../src/index.js';
import { PRESETS } from '../../sim/index.js';
import { runWorld, type PlannedProgram } from '../../sim/virtual/world.js';
import { loadConfig } from './defaults.js';
import { agents, chat, mixed, oneShot } from './workloads.js';

interface Row {
  readonly label: string;
  readonly policy: PolicyName;
  readonly admission?: Partial<SchedulerConfig['admission']>;
}

const ROWS: readonly Row[] = [
  { label: 'fcfs (pass-through)', policy: 'fcfs' },
  { label: 'fcfs-window, no gate', policy: 'fcfs-window', admission: { gate: 0 } },
  { label: 'fcfs-window + gate', policy: 'fcfs-window' },
  { label: 'mlfq-call + gate', policy: 'mlfq-call' },
  { label: 'las-decayed + gate', policy: 'las-decayed' },
  { label: 'plas, no gate', policy: 'plas', admission: { gate: 0 } },
  { label: 'plas + gate (default)', policy: 'plas' },
  { label: 'plas + gate, half-life 60 s', policy: 'plas', admission: { halfLifeMs: 60_000 } },
  {
    label: 'plas + gate, insisting after 30 s, each second',
    policy: 'plas',
    admission: { reserveMs: 30_000, turnMs: 1000 },
  },
];

function run(row: Row, programs: readonly PlannedProgram[], engines: number, kvTokens: number): string[] {
  const base = loadConfig();
  const config = {
    ...base,
    policy: { ...base.policy, name: row.policy },
    admission: { ...base.admission, ...row.admission },
  };
  const result = runWorld({
    programs,
    engines,
    engine: { preset: { ...PRESETS['llama-3.1-8b-a100'], kvTokens }, blockSize: 16, scheduling: 'fcfs' },
    config,
    balancer: makeBalancer(base.balancer),
    sharedTokens: 1024,
  });
  const seconds = result.programs.map((program) => program.seconds).sort((a, b) => a - b);
  const perToken = result.programs.map((program) => (1000 * program.seconds) / program.outputTokens);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const at = (share: number): number =>
    seconds[Math.min(seconds.length - 1, Math.floor(share * seconds.length))] ?? NaN;
  const cells = [mean(seconds), at(0.5), at(0.99), mean(perToken), result.longestQueueSeconds, result.makespanSeconds];
  return [...cells.map((value) => value.toFixed(value < 100 ? 1 : 0)), `${(100 * result.hitRate).toFixed(0)} %`];
}

function print(title: string, programs: readonly PlannedProgram[], engines: number, kvTokens: number): void {
  console.log(`\n### ${title}: ${programs.length} programs, ${engines} engine(s) of ${kvTokens} KV tokens\n`);
  console.log('| policy | mean s | p50 s | p99 s | ms per token | longest wait s | makespan s | hits |');
  console.log('|---|---|---|---|---|---|---|---|');
  for (const row of ROWS) console.log(`| ${[row.label, ...run(row, programs, engines, kvTokens)].join(' | ')} |`);
}

const scale = process.argv.includes('--quick') ? 0.1 : 1;
print('agents', agents(Math.ceil(250 * scale), 0.25), 2, 432_000);
print('chat', chat(Math.ceil(600 * scale), 1.5), 1, 160_000);
print('one-shot', oneShot(Math.ceil(3000 * scale), 8), 1, 432_000);
print('mixed', mixed(Math.ceil(400 * scale), 0.7), 2, 432_000);
