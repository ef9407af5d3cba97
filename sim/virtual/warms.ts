import { millis, tokens, type CancelWarm, type Warm } from '../../src/index.js';
import type { Sequence } from '../engine/sequence.js';
import type { Agenda } from './agenda.js';
import type { Fleet } from './fleet.js';
import type { Gateway } from './gateway.js';
import { Job, type Played } from './job.js';

/** Beyond any queue of the core: a warm is the last that a `priority` engine serves. */
const LAST = 1e9;

/** A warm on its engine. */
interface Order {
  readonly command: Pick<Warm, 'engine' | 'program' | 'thread'>;
  readonly atMs: number;
}

/** The gateway's warms: the last prompt of a thread again, for one token. */
export class Warms {
  readonly #played = new Map<string, Played>();
  readonly #orders = new Map<Job, Order>();

  constructor(
    private readonly agenda: Agenda,
    private readonly gateway: Gateway,
    private readonly fleet: () => Fleet,
  ) {}

  /** The call has its answer: its prompt is its thread's last. */
  answered({ played, call, index }: Job): void {
    this.#played.set(played.id, played);
    played.answered.set(call.thread, index);
  }

  /** The program has left the gateway's table. */
  forget(program: string): void {
    this.#played.delete(program);
  }

  /** The gateway ends, and forgets all prompts. */
  restart(): void {
    for (const [job, { command }] of this.#orders) this.fleet().get(command.engine).abort(job, this.agenda.nowMs);
    this.#orders.clear();
    this.#played.clear();
  }

  order(command: Warm): void {
    const fleet = this.fleet();
    const { nowMs } = this.agenda;
    const played = this.#played.get(command.program);
    const index = played?.answered.get(command.thread);
    const replica = fleet.get(command.engine);
    if (played === undefined || index === undefined || !replica.isUp)
      return this.#tell({ command, atMs: nowMs }, false);
    const job = new Job(played, index, fleet.contextTokensMax, 1);
    job.priority = LAST;
    job.streams = false;
    this.#orders.set(job, { command, atMs: nowMs });
    replica.add(job, nowMs);
  }

  cancel({ engine, program, thread }: CancelWarm): void {
    for (const [job, { command }] of this.#orders)
      if (command.engine === engine && command.program === program && command.thread === thread) this.#end(job);
  }

  /** Whether the job is a warm; it has ended then. @param sequence undefined: its engine is lost */
  ends(job: Job, sequence?: Sequence<Job>): boolean {
    const order = this.#orders.get(job);
    if (order === undefined) return false;
    this.#orders.delete(job);
    this.#tell(order, sequence !== undefined, sequence);
    return true;
  }

  #end(job: Job): void {
    const order = this.#orders.get(job) as Order;
    this.#orders.delete(job);
    const sequence = this.fleet().get(order.command.engine).abort(job, this.agenda.nowMs);
    this.#tell(order, false, sequence);
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
