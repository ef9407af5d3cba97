import { runLoad, type LoadOptions } from '../loadtest/index.js';
import type { Demo } from '../sidecar/index.js';
import { WORKLOADS, programs, type Workload } from '../workloads/index.js';

/** A minute of work for two embedded engines, whose KV caches hold a third of the contexts of as many agents at once. */
const PROGRAMS = 200;
const CONCURRENCY = 100;
/** Nobody wants to watch an agent's tools run. */
const GAP_MS_MAX = 4000;
const TIMEOUT_MS = 300_000;

/** A fleet of agent programs that the page of a gateway can send through it. One runs at a time. */
export class DemoFleet implements Demo {
  readonly #stop = new AbortController();
  #fleets = 0;
  #run: Promise<unknown> | undefined;
  progress: Demo['progress'];
  /** Base URL of the gateway, known once it listens. */
  target = '';

  /**
   * @param engine URL of an engine of the gateway
   * @param failed receives the error of a fleet that could not run
   */
  constructor(
    private readonly engine: string,
    private readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    if (this.target === '' || this.progress !== undefined || this.#stop.signal.aborted) return;
    this.#fleets += 1;
    this.progress = { ended: 0, total: PROGRAMS };
    const options: LoadOptions = {
      ...fleetOf(this.#fleets),
      targets: [this.target],
      durationMs: Infinity,
      timeScale: 1,
      api: 'chat',
      stream: true,
      identity: 'maitred',
      seed: this.#fleets,
      ignoreEos: true,
      recordedAnswers: false,
      connections: 256,
      timeoutMs: TIMEOUT_MS,
      // The gateway is this process.
      ownsTargets: true,
      baseline: 'none',
      measuredAt: [this.engine],
      onProgress: ({ programsEnded }) => (this.progress = { ended: programsEnded, total: PROGRAMS }),
    };
    this.#run = runLoad(options, NOBODY, this.#stop.signal)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.failed(error);
      })
      .finally(() => (this.progress = undefined));
  }

  /** Hangs up all of its calls, so that the gateway need not wait for them. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('stopped'));
    await this.#run;
  }
}

const NOBODY = { callEnded: () => undefined, programEnded: () => undefined };

/** Programs name their workflow, as clients can that were told of maitred: by what their prompts begin with. */
const NAMED: Workload = {
  ...WORKLOADS.react,
  draw: (dice, id) => {
    const program = WORKLOADS.react.draw(dice, id);
    const prefix = program.calls[0]?.prefix;
    return prefix !== undefined && 'name' in prefix
      ? { ...program, workload: prefix.name.replace('react/', '') }
      : program;
  },
};

export function fleetOf(seed: number) {
  return {
    programs: () => programs(NAMED, seed),
    maxPrograms: PROGRAMS,
    arrivals: { type: 'closed', concurrency: CONCURRENCY } as const,
    gapMsMax: GAP_MS_MAX,
  };
}
