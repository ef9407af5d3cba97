import {
  callId,
  engineId,
  millis,
  modelId,
  programId,
  tenantId,
  tokens,
  Scheduler,
  type Balancer,
  type CallId,
  type Event,
  type SchedulerConfig,
} from '../../src/index.js';
import { Engine, type EngineSettings } from '../engine/engine.js';
import type { Sequence, Work } from '../engine/sequence.js';
import { Agenda } from './agenda.js';

/** One call of a program, as a trace or a workload says. */
export interface PlannedCall {
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** From the end of the call before it to its arrival. */
  readonly gapMs: number;
}

/** A program of calls one after another, each prompt a continuation of the one before. */
export interface PlannedProgram {
  readonly arrivesAtMs: number;
  readonly calls: readonly PlannedCall[];
}

export interface WorldOptions {
  readonly programs: readonly PlannedProgram[];
  readonly engines: number;
  readonly engine: EngineSettings;
  readonly config: SchedulerConfig;
  readonly balancer: Balancer;
  /** Leading tokens that all programs share (a system prompt). */
  readonly sharedTokens: number;
}

export interface WorldResult {
  /** Completion times, in the order in which programs finished. */
  readonly programs: readonly { readonly seconds: number; readonly outputTokens: number }[];
  readonly makespanSeconds: number;
  readonly hitRate: number;
  readonly preemptions: number;
  readonly longestQueueSeconds: number;
}

interface Job extends Work {
  readonly id: CallId;
  readonly done: (sequence: Sequence<Job>) => void;
  dispatchedAtMs: number;
}

/** Between two load reports of an engine, as the gateway scrapes them. */
const REPORT_MS = 2000;
const MODEL = modelId('m');

/**
 * Runs programs through the scheduler and engines in virtual time: the gateway's core and the stand-in engine's model,
 * nothing rebuilt, no clock and no chance, so that the same options give the same result.
 */
export function runWorld(options: WorldOptions): WorldResult {
  return new World(options).run();
}

class World {
  readonly #agenda = new Agenda();
  readonly #scheduler: Scheduler;
  readonly #engines = new Map<string, Engine<Job>>();
  readonly #jobs = new Map<CallId, Job>();
  readonly #finished: { seconds: number; outputTokens: number }[] = [];
  #nowMs = 0;
  #wakeAtMs = Infinity;
  #longestQueueMs = 0;

  constructor(private readonly options: WorldOptions) {
    this.#scheduler = new Scheduler(options.config, options.balancer);
    for (let index = 0; index < options.engines; index += 1) this.#engines.set(`e${index}`, new Engine(options.engine));
  }

  run(): WorldResult {
    const { programs, engine } = this.options;
    const capacityTokens = tokens(engine.preset.kvTokens);
    for (const id of this.#engines.keys()) {
      this.#tell({ type: 'engineJoined', engine: engineId(id), models: [MODEL], capacityTokens });
      this.#report(id);
    }
    programs.forEach((program, index) => this.#agenda.put(program.arrivesAtMs, () => this.#call(program, index, 0)));
    while (this.#finished.length < programs.length) {
      const next = this.#agenda.take();
      if (next === undefined) throw new Error('programs are left that nothing will finish');
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
    }
    const totals = [...this.#engines.values()].map((one) => one.totals);
    const sum = (key: 'hitTokens' | 'queriedTokens' | 'preemptions') => totals.reduce((all, one) => all + one[key], 0);
    return {
      programs: this.#finished,
      makespanSeconds: this.#nowMs / 1000,
      hitRate: sum('hitTokens') / sum('queriedTokens'),
      preemptions: sum('preemptions'),
      longestQueueSeconds: this.#longestQueueMs / 1000,
    };
  }

  /** The program's next call arrives; when it is done, the one after it is put down, or the program has finished. */
  #call(program: PlannedProgram, index: number, position: number): void {
    const planned = program.calls[position] as PlannedCall;
    const id = callId(`${index}.${position}`);
    const done = (sequence: Sequence<Job>): void => {
      this.#jobs.delete(id);
      this.#tell({
        type: 'callFinished',
        call: id,
        usage: {
          promptTokens: tokens(planned.promptTokens),
          outputTokens: tokens(planned.outputTokens),
          cachedTokens: tokens(sequence.cachedTokens),
        },
        queueMs: millis(sequence.scheduledAt - sequence.work.dispatchedAtMs),
      });
      const next = program.calls[position + 1];
      if (next !== undefined)
        this.#agenda.put(this.#nowMs + next.gapMs, () => this.#call(program, index, position + 1));
      else this.#end(program);
    };
    const { promptTokens, outputTokens } = planned;
    const blockHashes = this.#hashes(index, promptTokens + outputTokens);
    this.#jobs.set(id, { id, promptTokens, outputTokens, blockHashes, priority: 0, done, dispatchedAtMs: 0 });
    this.#tell({
      type: 'callArrived',
      call: id,
      program: programId(`p${index}`),
      tenant: tenantId('t'),
      thread: '',
      model: MODEL,
      promptTokens: tokens(promptTokens),
    });
  }

  #end(program: PlannedProgram): void {
    const outputTokens = program.calls.reduce((sum, call) => sum + call.outputTokens, 0);
    this.#finished.push({ seconds: (this.#nowMs - program.arrivesAtMs) / 1000, outputTokens });
  }

  /** A program's blocks: those of the shared prefix, then its own. */
  #hashes(index: number, length: number): Float64Array {
    const { blockSize } = this.options.engine;
    const shared = Math.floor(this.options.sharedTokens / blockSize);
    const own = (index + 1) * 2 ** 24;
    return Float64Array.from({ length: Math.floor(length / blockSize) }, (_, block) =>
      block < shared ? block : own + block,
    );
  }

  #tell(event: Event): void {
    for (const command of this.#scheduler.step(event, millis(this.#nowMs))) {
      if (command.type === 'dispatch') {
        this.#longestQueueMs = Math.max(this.#longestQueueMs, command.queueMs);
        this.#dispatch(command.call, command.engine);
      } else if (command.type === 'wakeAt') {
        const at = (this.#wakeAtMs = command.at);
        this.#agenda.put(at, () => {
          if (at === this.#wakeAtMs) this.#tell({ type: 'woke' });
        });
      } else if (command.type === 'reject') {
        throw new Error(`call ${command.call} was refused: ${command.refusal}`);
      }
    }
  }

  #dispatch(id: CallId, engine: string): void {
    const job = this.#jobs.get(id) as Job;
    const target = this.#engines.get(engine) as Engine<Job>;
    job.dispatchedAtMs = this.#nowMs;
    if (target.add(job, this.#nowMs) === undefined) throw new Error(`call ${id} does not fit the engine`);
    this.#step(target);
  }

  /** Starts the engine's next step unless one is under way. */
  #step(engine: Engine<Job>): void {
    if (!Number.isNaN(engine.stepEnd)) return;
    const endsAtMs = engine.begin(this.#nowMs);
    if (endsAtMs === undefined) return;
    this.#agenda.put(endsAtMs, () => {
      const produced = [...engine.end()];
      for (const { work, generated } of produced)
        if (generated === 1) this.#tell({ type: 'callStarted', call: work.id });
      for (const sequence of produced) if (sequence.state === 'finished') sequence.work.done(sequence);
      this.#step(engine);
    });
  }

  #report(id: string): void {
    const engine = this.#engines.get(id) as Engine<Job>;
    this.#tell({
      type: 'engineReported',
      engine: engineId(id),
      waiting: engine.waiting,
      kvUsage: 1 - engine.kv.free / engine.kv.size,
      preemptions: engine.totals.preemptions,
    });
    this.#agenda.put(this.#nowMs + REPORT_MS, () => this.#report(id));
  }
}
