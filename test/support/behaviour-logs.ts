import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import pino from 'pino';
import { makeBalancer } from '../../loadbalancer/index.js';
import { configSchema, type Config } from '../../sidecar/config/index.js';
import { EventLog } from '../../sidecar/recording/recorder.js';
import { conditionsSchema, PRESETS, runWorld, type WorldOptions } from '../../sim/index.js';
import type { Steps } from '../../sim/virtual/options.js';
import { Scheduler } from '../../src/index.js';
import { programs, workloadFileSchema, workloadOf, WORKLOADS, type AgentProgram } from '../../workloads/index.js';
import { folderOf } from './folder.js';

const SEED = 1;
const CALLS_MAX = 25;
const PRESET = PRESETS['llama-3.1-8b-a100'];

const EQUAL = {
  workloads: {
    equal: {
      ...{ kind: 'agent', inputTokens: 10_000, outputTokens: 40, callsPerTurn: 4 },
      tools: [{ name: 'none', ms: 5, resultTokens: 100 }],
    },
  },
};

interface Recording extends Partial<WorldOptions> {
  readonly programs: Iterable<AgentProgram>;
  readonly maxPrograms: number;
  readonly ratePerSecond: number;
  readonly config: Config;
  /** Settings of a reload after so many steps. */
  readonly reload?: { readonly afterSteps: number; readonly config: Config };
}

/** Small loads that use as many parts of the core as they can. A part that is missing here may change unnoticed. */
const RECORDINGS: Readonly<Record<string, Recording>> = {
  // Enough programs that end for the knee to learn, and short and long ones for it to tell apart.
  knee: {
    programs: small(programs(WORKLOADS.mixed, SEED)),
    maxPrograms: 120,
    ratePerSecond: 20,
    announceEnds: true,
    engines: 1,
    config: configSchema.parse({}),
  },
  // A small cache and window behind faults, for tenants that declare the size of their programs.
  trouble: {
    programs: ofTenants(programs(WORKLOADS.coding, SEED)),
    maxPrograms: 24,
    ratePerSecond: 0.4,
    engines: 2,
    engine: engine(30_000),
    conditions: conditionsSchema.parse({
      clients: { timeoutMs: 90_000, retries: 2, streamShare: 0.3 },
      cancels: { share: 0.1, afterMs: 10_000 },
      refusals: { share: 0.03 },
      overlong: { share: 0.05, promptTokens: 40_000 },
      busy: { share: 0.05, burstMs: 5_000 },
      broken: { share: 0.05 },
      engineLoss: { atMs: [40_000, 130_000], restartMs: 30_000 },
      declarations: { spread: 3, mistakenShare: 0.1 },
    }),
    config: configSchema.parse({
      policy: { tenants: 'weighted', foresight: 'declared' },
      admission: { window: 6 },
      starvation: { waitMsMax: 60_000 },
    }),
    reload: {
      afterSteps: 400,
      config: configSchema.parse({
        policy: { tenants: 'none', foresight: 'none' },
        admission: { window: 'adaptive', retention: 'half-life' },
        balancer: { name: 'least-loaded' },
      }),
    },
  },
  // More programs at once than a small cache holds, each back as soon as it has an answer.
  burst: {
    programs: programs(workloadOf(workloadFileSchema.parse(EQUAL)), SEED),
    maxPrograms: 40,
    ratePerSecond: 100,
    engine: engine(36_000),
    config: configSchema.parse({}),
  },
  // The first of three gateways that share two engines and run each other's programs.
  gateways: {
    programs: programs(WORKLOADS.react, SEED),
    maxPrograms: 45,
    ratePerSecond: 3,
    engines: 2,
    engine: engine(20_000),
    cluster: { gateways: 3, delayMs: 5, routing: 'call', shares: true, lossShare: 0.05 },
    config: configSchema.parse({ admission: { window: 8 } }),
  },
};

/** Records every log anew, by the gateway's own recorder in virtual time, into files of this folder. */
export async function recordAll(folder: string): Promise<void> {
  for (const [name, recording] of Object.entries(RECORDINGS))
    writeFileSync(join(folder, `${name}.jsonl.gz`), gzipSync(await record(recording), { level: 9 }));
}

async function record({ config, reload, ratePerSecond, ...options }: Recording): Promise<Buffer> {
  const file = join(folderOf({}), 'log');
  const recorder = await EventLog.open({ file, config, log: pino({ level: 'silent' }) });
  const seen = { schedulers: 0, steps: 0 };
  runWorld({
    engines: 1,
    engine: engine(PRESET.kvTokens),
    arrivals: { type: 'open', ratePerSecond, cv: 1 },
    seed: SEED,
    observer: { programEnded: () => undefined },
    alone: false,
    ...options,
    scheduler: () => {
      const scheduler = new Scheduler(config, makeBalancer(config.balancer));
      const isRecorded = (seen.schedulers += 1) === 1;
      const step: Steps['step'] = (event, now) => {
        const commands = scheduler.step(event, now);
        if (!isRecorded) return commands;
        recorder.step(event, now, commands);
        if ((seen.steps += 1) !== reload?.afterSteps) return commands;
        const more = scheduler.configure(reload.config, makeBalancer(reload.config.balancer), now);
        recorder.configured(reload.config, now, more);
        return [...commands, ...more];
      };
      return { step, views: scheduler.views, readsRemaining: true };
    },
  });
  await recorder.close();
  return readFileSync(file);
}

function engine(kvTokens: number): WorldOptions['engine'] {
  return { preset: { ...PRESET, kvTokens, maxModelLen: 32_768 }, blockSize: 16 };
}

/** Without those of very many calls, which would fill the log. */
function* small(all: Iterable<AgentProgram>): Generator<AgentProgram> {
  for (const program of all) if (program.calls.length <= CALLS_MAX) yield program;
}

function* ofTenants(all: Iterable<AgentProgram>): Generator<AgentProgram> {
  let count = 0;
  for (const program of all) yield { ...program, tenant: ['light', 'heavy', 'heavy'][(count += 1) % 3] as string };
}
