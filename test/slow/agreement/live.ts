import { startStandIns, startGateway } from '../../../processes/gateway.js';
import { get } from '../../../processes/process.js';
import { runLoad, type LoadCallRecord, type LoadProgramRecord } from '../../../loadtest/index.js';
import { samplesOf } from '../../../sidecar/engines/prometheus.js';
import { pairedRatio, type Ratio } from '../../../lab/measure/comparison.js';
import { Gathering, type Measures } from '../../../lab/measure/measures.js';
import type { PolicyName } from '../../../src/index.js';
import { OPTIONS } from '../../support/load.js';
import type { PromptTokens, Setting } from './setting.js';

/** Results of the setting in real time. */
export interface Live {
  /** One run of each policy. */
  readonly runs: readonly LiveRun[];
  /** Mean program time of the second run over that of the first, if there are two. */
  readonly ratio: Ratio;
}

export interface LiveRun {
  readonly policy: PolicyName;
  /** In model time, like the simulator's. */
  readonly measures: Measures;
  readonly promptTokens: PromptTokens;
  /** Share of prompt tokens that hit the engines' caches. */
  readonly hitRate: number;
}

/**
 * Runs the setting in real time, under all of these policies at once. Each policy has its own gateway and engines, in
 * their own processes; one load tester for all of them runs in this process.
 */
export async function runLive(setting: Setting, policies: readonly PolicyName[]): Promise<Live> {
  const { programs, ratePerSecond, seed, speed } = setting;
  const stages: Stage[] = [];
  try {
    for (const policy of policies) stages.push(await Stage.open(setting, policy));
    const seconds: [number[], number[]] = [[], []];
    const observer = {
      callEnded: (call: LoadCallRecord) => stages[call.target]?.callEnded(call),
      programEnded: (program: LoadProgramRecord) => {
        stages[program.target]?.programEnded(program);
        seconds[program.target === 0 ? 0 : 1][program.index] = (program.endedMs - program.arrivedMs) / 1000;
      },
    };
    const options = {
      ...OPTIONS,
      targets: stages.map(({ gateway }) => gateway.url),
      programs: () => programs,
      arrivals: { type: 'open', ratePerSecond, cv: 1 } as const,
      timeScale: speed,
      // Names programs and threads, but not a program's last call, like the simulator.
      identity: 'claude-code' as const,
      seed,
      timeoutMs: 3_600_000,
    };
    for (const stage of stages) await stage.begin();
    await runLoad(options, observer, new AbortController().signal);
    const runs: LiveRun[] = [];
    for (const stage of stages) runs.push(await stage.end());
    return { runs, ratio: pairedRatio(seconds[0].map((first, index) => [first, seconds[1][index] ?? NaN])) };
  } finally {
    for (const stage of stages) await stage.close();
  }
}

type Server = Awaited<ReturnType<typeof startGateway>>;
type Engines = Awaited<ReturnType<typeof startStandIns>>;

/** Running totals of the engines' caches. */
interface Reading {
  readonly hits: number;
  readonly queries: number;
}

/** A gateway under one policy, its engines, and their observed results. */
class Stage {
  readonly #gathering: Gathering;
  readonly #promptTokens = new Map<string, number[]>();
  #before: Reading = { hits: 0, queries: 0 };

  private constructor(
    private readonly setting: Setting,
    private readonly policy: PolicyName,
    private readonly engines: Engines,
    readonly gateway: Server,
  ) {
    this.#gathering = new Gathering(setting.seed);
  }

  static async open(setting: Setting, policy: PolicyName): Promise<Stage> {
    const { engines: count, preset, kvTokens, speed, file } = setting;
    const engines = await startStandIns(count, preset, kvTokens, speed);
    try {
      return new Stage(setting, policy, engines, await startGateway({ policy, file, engines: engines.urls, speed }));
    } catch (error) {
      await engines.stop();
      throw error;
    }
  }

  callEnded(call: LoadCallRecord): void {
    this.#gathering.callEnded(inModelTime(call, this.setting.speed));
    const tokens = this.#promptTokens.get(call.program) ?? [];
    tokens[call.call] = call.promptTokens;
    this.#promptTokens.set(call.program, tokens);
  }

  programEnded(program: LoadProgramRecord): void {
    this.#gathering.programEnded(inModelTime(program, this.setting.speed));
  }

  async begin(): Promise<void> {
    this.#before = await this.#read();
  }

  async end(): Promise<LiveRun> {
    const { hits, queries } = await this.#read();
    return {
      policy: this.policy,
      measures: this.#gathering.measures(),
      promptTokens: this.#promptTokens,
      hitRate: (hits - this.#before.hits) / (queries - this.#before.queries),
    };
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.engines.stop();
  }

  async #read(): Promise<Reading> {
    const engines = await Promise.all(this.engines.urls.map((url) => get(`${url}/metrics`)));
    return {
      hits: total('vllm:prefix_cache_hits_total', engines),
      queries: total('vllm:prefix_cache_queries_total', engines),
    };
  }
}

function total(name: string, texts: readonly string[]): number {
  const samples = texts.flatMap((text) => samplesOf(text, name));
  return samples.reduce((sum, { value }) => sum + value, 0);
}

/** The record with all times converted to those of a real machine. */
function inModelTime<T extends LoadCallRecord | LoadProgramRecord>(record: T, speed: number): T {
  const scaled = Object.entries(record).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'number' && name.endsWith('Ms') ? value * speed : value,
  ]);
  return Object.fromEntries(scaled) as T;
}
