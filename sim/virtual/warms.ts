import { millis, tokens, type CancelWarm, type Warm } from '../../src/index.js';
import type { Sequence } from '../engine/sequence.js';
import type { Agenda } from './agenda.js';
import type { Fleet } from './fleet.js';
import type { Gateway } from './gateway.js';
import { Job } from './job.js';

/** Beyond any queue of the core: a warm is the last that a `priority` engine serves. */
const LAST = 1e9;

/** A warm on its engine. */
interface Order {
  readonly command: Pick<Warm, 'engine' | 'program' | 'thread'>;
  readonly atMs: number;
}

/** The gateway's warms: the last prompt of a thread again, for one token. */
export class Warms {
  /** The last answered call of each thread, by program. */
  readonly #answered = new Map<string, Map<string, Job>>();
  readonly #orders = new Map<Job, Order>();

  constructor(
    private readonly agenda: Agenda,
    private readonly gateway: Pick<Gateway, 'tell'>,
    private readonly fleet: () => Fleet,
  ) {}

  /** The call has its answer: its prompt is its thread's last. */
  answered(job: Job): void {
    const threads = this.#answered.get(job.played.id) ?? new Map<string, Job>();
    this.#answered.set(job.played.id, threads.set(job.call.thread, job));
  }

  /** The program has left the gateway's table. */
  forget(program: string): void {
    this.#answered.delete(program);
  }

  /** The gateway ends, and forgets all prompts. */
  restart(): void {
    for (const [job, { command }] of this.#orders) this.fleet().get(command.engine).abort(job, this.agenda.nowMs);
    this.#orders.clear();
    this.#answered.clear();
  }

  order(command: Warm): void {
    const fleet = this.fleet();
    const { nowMs } = this.agenda;
    const last = this.#answered.get(command.program)?.get(command.thread);
    const replica = fleet.get(command.engine);
    if (last === undefined || !replica.isUp) return this.#tell({ command, atMs: nowMs }, false);
    const job = new Job(last.played, last.index, fleet.contextTokensMax, 1);
    job.priority = LAST;
    job.streams = false;
    this.#orders.set(job, { command, atMs: nowMs });
    replica.add(job, nowMs);
  }

  cancel({ engine }: CancelWarm): void {
    for (const [job, order] of this.#orders) {
      if (order.command.engine !== engine) continue;
      this.#orders.delete(job);
      this.#tell(order, false, this.fleet().get(engine).abort(job, this.agenda.nowMs));
    }
  }

  /** Whether the job is a warm; it has ended then. @param sequence undefined: its engine is lost */
  ends(job: Job, sequence?: Sequence<Job>): boolean {
    const order = this.#orders.get(job);
    if (order === undefined) return false;
    this.#orders.delete(job);
    this.#tell(order, sequence !== undefined, sequence);
    return true;
  }

  #tell({ command: { engine, program, thread }, atMs }: Order, ok: boolean, sequence?: Sequence<Job>): void {
    this.gateway.tell({
      type: 'memoryMoved',
      engine,
      program,
      thread,
      action: 'warm',
      ok,
      tokens: tokens(computedTokens(sequence)),
      ms: millis(this.agenda.nowMs - atMs),
    });
  }
}

/** Prompt tokens that the engine has computed for it; its own count is of the part found cached. */
function computedTokens(sequence?: Sequence<Job>): number {
  if (sequence === undefined || Number.isNaN(sequence.scheduledAt)) return 0;
  return Math.max(0, Math.min(sequence.computed, sequence.work.promptTokens) - sequence.cachedTokens);
}
