import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runLoad, type LoadProgramRecord } from '../../loadtest/index.js';
import { readCounters, startStandIns } from '../../processes/engines.js';
import { startGateway } from '../../processes/gateway.js';
import { get, untilReady } from '../../processes/http.js';
import type { Server } from '../../processes/process.js';
import { PRESETS, type PresetName } from '../../sim/index.js';
import type { PolicyName } from '../../src/index.js';
import { recordedPrograms, type AgentProgram } from '../../workloads/index.js';
import { percentile } from '../numbers.js';
import { cpuMsOf } from '../proc.js';
import { openFront } from './front.js';
import type { Store } from './server.js';

/** Names the program of a call by Claude Code. */
const PROGRAM_HEADER = 'x-claude-code-session-id';

/** Gateways under test. Several share a store. */
export interface LiveArm {
  readonly name: string;
  readonly policy: PolicyName;
  readonly gateways: number;
  /** Absent: one gateway. */
  readonly cluster?: { readonly routing: 'call' | 'program' };
}

interface Load {
  /** Speed-up over real time. */
  readonly speed: number;
  readonly seed: number;
  readonly count: number;
  readonly ratePerSecond: number;
  readonly engines: number;
  readonly machine: PresetName;
  readonly recorded: readonly AgentProgram[];
  readonly store: Store;
}

/** Times in seconds as they would really be, but `tookS`. */
export interface LiveFigures {
  readonly meanS: number;
  readonly p99S: number;
  readonly tookS: number;
  readonly hitShare: number;
  readonly failed: number;
  /** Operations of the store that failed or were late. */
  readonly late: number;
  /** Mean cores in use: the busiest gateway, the busiest engine, the store, this process. */
  readonly cores: readonly number[];
}

/** Plays the programs once, on engines and gateways of their own. */
export async function play(arm: LiveArm, load: Load): Promise<LiveFigures> {
  const { engines: count, machine, store, speed } = load;
  const { kvTokens } = PRESETS[machine];
  const engines = await startStandIns({ count, preset: machine, kvTokens, speed });
  const gateways: Server[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'maitred-fleet-'));
  try {
    const file = join(folder, 'maitred.yaml');
    const cluster =
      arm.gateways > 1 ? { url: store.path, gateways: arm.gateways, pool: `${arm.cluster?.routing}-${load.seed}` } : {};
    await writeFile(file, JSON.stringify({ cluster }));
    for (let i = 0; i < arm.gateways; i += 1)
      gateways.push(await startGateway({ policy: arm.policy, file, engines: engines.urls, speed }));
    if (arm.gateways > 1) await untilReady(() => whoIsAlone(gateways));
    const pids = [gateways.map(({ pid }) => pid), engines.pids, [store.pid], [process.pid]];
    const cpuMs = () => pids.map((each) => each.map((pid) => cpuMsOf(pid) ?? NaN));
    const [before, cpuBefore, startedAt] = [await readCounters(engines.urls), cpuMs(), performance.now()];
    const played = await playAll(arm, load, gateways);
    const [after, cpuAfter, tookMs] = [await readCounters(engines.urls), cpuMs(), performance.now() - startedAt];
    const seconds = played.programs.map(({ arrivedMs, endedMs }) => ((endedMs - arrivedMs) * speed) / 1000);
    const rows = arm.gateways > 1 ? await Promise.all(gateways.map(clusterOf)) : [];
    return {
      meanS: seconds.reduce((sum, each) => sum + each, 0) / seconds.length,
      p99S: percentile(seconds, 0.99),
      tookS: tookMs / 1000,
      hitShare: (after.hits - before.hits) / (after.queries - before.queries),
      failed: played.failed,
      late: rows.reduce((sum, { failures }) => sum + failures, 0),
      cores: cpuAfter.map(
        (each, kind) => Math.max(...each.map((ms, i) => ms - (cpuBefore[kind]?.[i] ?? NaN))) / tookMs,
      ),
    };
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await engines.stop();
    await rm(folder, { recursive: true });
  }
}

async function playAll(
  { cluster }: LiveArm,
  { seed, count, speed, ratePerSecond, recorded }: Load,
  gateways: readonly Server[],
): Promise<{ readonly programs: readonly LoadProgramRecord[]; readonly failed: number }> {
  const urls = gateways.map(({ url }) => url);
  const front = await openFront(urls, seed, cluster?.routing === 'program' ? PROGRAM_HEADER : undefined);
  const programs: LoadProgramRecord[] = [];
  let failed = 0;
  try {
    await runLoad(
      {
        targets: [front.url],
        programs: () => recordedPrograms(recorded, seed),
        maxPrograms: count,
        runs: 1,
        durationMs: Infinity,
        arrivals: { type: 'open', ratePerSecond, cv: 1 },
        timeScale: speed,
        gapMsMax: Infinity,
        api: 'chat',
        stream: false,
        identity: 'claude-code',
        seed,
        salt: false,
        ignoreEos: true,
        recordedAnswers: false,
        connections: 4096,
        timeoutMs: 3_600_000,
        hangUp: 0,
        ownsTargets: false,
        baseline: 'none',
      },
      {
        callEnded: ({ outcome }) => (failed += outcome === 'completed' ? 0 : 1),
        programEnded: (program) => programs.push(program),
      },
      new AbortController().signal,
    );
  } finally {
    await front.stop();
  }
  return { programs, failed };
}

interface ClusterRow {
  readonly standing: string;
  readonly live: number;
  readonly failures: number;
}

const clusterOf = async ({ url }: Server): Promise<ClusterRow> =>
  (JSON.parse(await get(`${url}/gateway`)) as { readonly cluster: ClusterRow }).cluster;

async function whoIsAlone(gateways: readonly Server[]): Promise<string | undefined> {
  const rows = await Promise.all(gateways.map(clusterOf));
  const isOne = rows.every(({ standing, live }) => standing === 'shared' && live === gateways.length);
  return isOne ? undefined : `gateways do not share: ${JSON.stringify(rows)}`;
}
