import { expect, it as base } from 'vitest';
import { configSchema, type EngineConfig } from '../../../sidecar/config/index.js';
import { Membership } from '../../../sidecar/discovery/membership.js';
import { Fleet, type Engine } from '../../../sidecar/engines/index.js';
import { cleanUp } from '../../support/clean-up.js';
import { FakeEngine, modelList, type Route } from '../../support/fake-engine.js';
import { engineId, programId, type Event } from '../../../src/index.js';
import { ManualTimers, until } from './manual-timers.js';

export const INTERVAL = 1000;
export const TIMEOUT = 300;
export const BACKOFF = 50;
export const BACKOFF_MAX = 400;
export const FAILURES_MAX = 3;
export const STUCK = 5000;

/** A vLLM-like engine with one model and a known capacity. */
export const VLLM: Record<string, Route> = {
  '/health': 'ok',
  '/v1/models': modelList(['m']),
  '/metrics': 'vllm:num_requests_waiting 2\nvllm:cache_config_info{block_size="10",num_gpu_blocks="101"} 1\n',
};

export const fakeEngine = (routes: Record<string, Route> = VLLM): Promise<FakeEngine> => FakeEngine.start(routes);

export const engineConfig = (fields: Partial<EngineConfig> & { url: string }): EngineConfig => ({
  kind: 'vllm',
  ...fields,
});

/** A fleet under manual time, with all its output. */
export class FleetHarness {
  readonly timers = new ManualTimers();
  readonly events: Event[] = [];
  readonly logs: { level: string; fields: object; message: string }[] = [];
  readonly inFlight = new Map<string, number>();
  readonly fleet: Fleet;
  readonly membership: Membership;

  constructor(...engines: EngineConfig[]) {
    const { timeouts } = configSchema.parse({});
    const health = {
      intervalMs: INTERVAL,
      timeoutMs: TIMEOUT,
      failuresMax: FAILURES_MAX,
      stuckMs: STUCK,
      backoffMs: BACKOFF,
      backoffMsMax: BACKOFF_MAX,
    };
    const log = (level: string) => (fields: object, message: string) => void this.logs.push({ level, fields, message });
    const ports = {
      emit: (event: Event) => void this.events.push(event),
      inFlight: (id: string) => this.inFlight.get(id) ?? 0,
      setTimer: this.timers.set,
      now: () => this.timers.now,
      log: { debug: log('debug'), info: log('info'), warn: log('warn') },
    };
    this.fleet = new Fleet({ health, timeouts }, ports);
    cleanUp(() => this.fleet.close());
    this.membership = new Membership(this.fleet, ports.now, ports.log);
    this.configure(engines);
  }

  /** Applies a configuration as a reload does, once its new engines have had their time. */
  configure(engines: readonly EngineConfig[]): void {
    this.membership.configure(engines, []);
    this.membership.settle();
  }

  engine(id: string): Engine {
    const engine = this.fleet.get(engineId(id));
    expect(engine).toBeDefined();
    return engine!;
  }

  /** Delays of pending probes; a running probe has none yet. */
  get waits(): readonly number[] {
    return this.timers.pending.filter((ms) => ms !== TIMEOUT);
  }

  /** Waits until `count` engines have ended their probes. */
  async idle(count = 1): Promise<void> {
    await until(() => this.waits.length === count);
  }

  /** Runs the next probe to its end. */
  async probe(): Promise<void> {
    this.timers.advance(Math.max(...this.waits));
    await this.idle();
  }

  /** Events since the last call. */
  take(): Event[] {
    return this.events.splice(0);
  }

  call(id: string, outcome: 'succeeded' | 'unreached', times = 1): void {
    for (let i = 0; i < times; i += 1) this.fleet.get(engineId(id))?.[outcome](programId('p'));
  }

  /** Reports failed calls of these programs, or `outdone`: another engine answered those that failed just now, or `late`, before its last good answer. */
  answers(id: string, outcome: 'misanswered' | 'outdone' | 'late', ...programs: readonly string[]): void {
    const engine = this.fleet.get(engineId(id));
    for (const program of programs) {
      if (outcome === 'misanswered') engine?.misanswered(programId(program));
      else
        engine?.outdone(
          programId(program),
          engine.evidence.acquittals - (outcome === 'late' ? 1 : 0),
          'The engine answered with status 500: no',
        );
    }
  }
}

/** Types of the events, in order. */
export const types = (events: readonly Event[]) => events.map((event) => event.type);

export const lostAfter = (silentMs: number) => ({ type: 'engineLost', engine: 'e', silentMs });
export const JOINED = { type: 'engineJoined', engine: 'e', models: ['m'], capacityTokens: 1000 };
export const REPORTED = { type: 'engineReported', engine: 'e', waiting: 2 };

type Given = Partial<Parameters<typeof engineConfig>[0]>;

/** One engine `e` that answers so, and is being probed. @param routes by path, or one for all */
export async function probing(routes: Record<string, Route> | Route = VLLM, config: Given = {}) {
  const isAll = typeof routes !== 'object';
  const fake = await fakeEngine(isAll ? VLLM : routes);
  if (isAll) fake.all = routes;
  return { fake, harness: new FleetHarness(engineConfig({ url: fake.url, id: 'e', ...config })) };
}

/** The same, once it has been probed. */
export async function probed(...given: Parameters<typeof probing>) {
  const { fake, harness } = await probing(...given);
  await harness.idle();
  return { fake, harness };
}

/** The same, already up. */
export async function up(routes = VLLM) {
  const { fake, harness } = await probed(routes);
  expect(harness.engine('e').state).toBe('up');
  harness.take();
  return { fake, harness };
}

/** Tests with one engine `e`: up, ejected by failed calls, or back on probation. */
export const it = base
  .extend('healthy', () => up())
  .extend('fake', ({ healthy }) => healthy.fake)
  .extend('harness', ({ healthy }) => healthy.harness)
  .extend('ejected', ({ healthy }) => {
    healthy.harness.call('e', 'unreached', FAILURES_MAX);
    expect(healthy.harness.engine('e').state).toBe('down');
    healthy.harness.take();
    return healthy;
  })
  .extend('onProbation', async ({ ejected }) => {
    await ejected.harness.probe();
    expect(ejected.harness.engine('e').state).toBe('probation');
    ejected.harness.take();
    return ejected;
  });
