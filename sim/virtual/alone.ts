import type { EngineSettings } from '../engine/engine.js';
import { Agenda, Appointment, RANK } from './agenda.js';
import { Job, type Played } from './job.js';
import { ProgramRun } from './program-run.js';
import { Replica } from './replica.js';

/** Runs programs one by one on an engine of their own, each on an initially empty cache and with no other load. */
export class Alone {
  readonly #agenda = new Agenda();
  readonly #replica: Replica;
  #nowMs = 0;

  constructor(settings: EngineSettings) {
    this.#replica = new Replica(0, settings, this.#agenda, {
      started: () => undefined,
      finished: ({ played, index }) => {
        for (const next of played.run.completed(index, 0, 0)) this.#plan(played, next);
      },
    });
  }

  /** Time from the program's arrival to the end of its last call. The engine must accept all of its calls. */
  completionMs(played: Played): number {
    const run = new ProgramRun(played.run.program, 0);
    this.#nowMs = 0;
    this.#replica.engine.reset();
    const alone = { ...played, run };
    for (const call of run.opening()) this.#plan(alone, call);
    for (let next = this.#agenda.take(); next !== undefined; next = this.#agenda.take()) {
      this.#nowMs = next.atMs;
      next.happen();
    }
    return this.#nowMs;
  }

  #plan(played: Played, call: number): void {
    const job = new Job(played, call, this.#replica.engine.maxModelLen);
    const arrival = new Appointment(RANK.callArrives, () => this.#replica.add(job, this.#nowMs));
    this.#agenda.set(arrival, this.#nowMs + job.call.gapMs);
  }
}
