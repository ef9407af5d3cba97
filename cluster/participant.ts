import { LRUCache } from 'lru-cache';
import type { Elsewhere, Event, ProgramId, ProgramRecord, Views } from '../src/index.js';
import { Member } from './member.js';
import type { EnginePart } from './messages.js';
import { Rounds } from './rounds.js';
import type { Answer, SharedListener, SharedState, StoreState, Taken } from './shared-state.js';

export interface Clock {
  readonly nowMs: () => number;
  /** Calls `ring` at this time instead of at the one set before; of a past time, as soon as the work at hand is done. */
  readonly wakeAt: (atMs: number, ring: () => void) => void;
  readonly stop: () => void;
}

export interface ParticipantPorts {
  readonly clock: Clock;
  readonly emit: (event: Event) => void;
  /** Read anew at each use: a simulated gateway may restart. */
  readonly views: () => Pick<Views, 'demands' | 'record' | 'waiting'>;
  /** Most programs to remember as this gateway's own. */
  readonly programsMax: number;
  readonly changed: (state: StoreState) => void;
}

export type TakeResult = 'new' | 'kept' | 'moved' | 'unanswered';

/**
 * A gateway's part in its cluster, in real or virtual time.
 *
 *     after a step        claims of engines, homes of programs     ──▶ store
 *     after a call        the program's record                     ──▶ store
 *     parts, moves        engineShared, programMoved               ◀── store
 *     before an arrival   the program, if it is not ours           ◀─▶ store
 *
 * Nothing here fails, or waits longer than the store's time limit.
 */
export class Participant<S extends SharedState = SharedState> implements SharedListener {
  /** The gateway's place at the store, which has this listener. To be set before all else. */
  shared!: S;
  readonly #member: Member;
  /** Programs with calls here since they last moved; true: no other gateway can have had calls since. */
  readonly #programs: LRUCache<ProgramId, boolean>;
  readonly #taking = new Map<ProgramId, Answer<Taken | undefined>>();
  /** Programs with a call dispatched since their records were last written. */
  readonly #changed = new Set<ProgramId>();
  readonly #rounds = new Rounds();
  readonly changed: (state: StoreState) => void;
  #isOpen = true;
  /** Programs asked for, by result: `maitred_cluster_takes_total{result}`. */
  readonly takes: Record<TakeResult, number> = { new: 0, kept: 0, moved: 0, unanswered: 0 };

  constructor(private readonly ports: ParticipantPorts) {
    this.changed = ports.changed;
    this.#member = new Member(() => ports.views().demands());
    // `max` would reserve memory for all of them in advance.
    this.#programs = new LRUCache({ maxSize: ports.programsMax, sizeCalculation: () => 1 });
  }

  /** `alone`: the store is away. `split`: so it is, and others may go on with it. */
  get standing(): 'shared' | 'alone' | 'split' {
    const { up, live } = this.shared.state;
    return up ? 'shared' : live > 1 ? 'split' : 'alone';
  }

  /** Whether no other gateway has had calls of the program since its last one here. */
  owns(program: ProgramId): boolean {
    return this.#programs.get(program) === true;
  }

  /** Whether the program's last call came to this gateway, as far as it has heard. */
  runs(program: ProgramId): boolean {
    return this.#programs.has(program);
  }

  /** The event, marked if it announces an engine: others use it too. */
  announced(event: Event): Event {
    if (event.type !== 'engineJoined') return event;
    this.#member.joined(event.engine);
    return { ...event, shared: true };
  }

  stepped(): void {
    if (!this.#isOpen) return;
    const isUrgent = this.#member.isWanted || this.ports.views().waiting > 0;
    const atMs = this.#rounds.plan(isUrgent, this.shared.state.live, this.#member.engines);
    if (atMs !== undefined) this.ports.clock.wakeAt(atMs, this.#exchange);
  }

  placed(program: ProgramId): void {
    this.#changed.add(program);
    this.stepped();
  }

  /** A call of the program has ended: the next one may come to another gateway at once. */
  ran(program: ProgramId): void {
    this.#changed.delete(program);
    this.#put(program);
  }

  /** The program is over, here and elsewhere. */
  ended(program: ProgramId): void {
    const isOwn = this.owns(program);
    this.gone(program);
    if (isOwn) this.shared.forget(program);
    // Its owner hears that it has moved, and counts its contexts no more.
    else void this.shared.take(program).then(() => this.shared.forget(program));
  }

  /** The scheduler has forgotten the program. The store keeps its record. */
  gone(program: ProgramId): void {
    this.#changed.delete(program);
    this.#programs.delete(program);
  }

  close(): Answer<void> {
    this.#isOpen = false;
    this.ports.clock.stop();
    return this.shared.leave();
  }

  /**
   * Takes over the program for a call of the thread. Answers with the others' knowledge of it.
   * @param isMade whether the program's id was made here just now, so that nobody knows it
   * @returns undefined: nobody is to be asked, as the program is this gateway's
   */
  take(program: ProgramId, thread: string, isMade = false): Answer<Elsewhere | undefined> | undefined {
    if (this.owns(program)) return undefined;
    if (isMade) {
      this.#programs.set(program, true);
      return undefined;
    }
    return this.#take(program).then((taken) => taken?.record && elsewhereOf(taken.record, thread));
  }

  #take(program: ProgramId): Answer<Taken | undefined> {
    const known = this.#taking.get(program);
    if (known !== undefined) return known;
    const taking = this.shared.take(program).then((taken) => {
      const isCurrent = this.#taking.get(program) === taking;
      if (isCurrent) this.#taking.delete(program);
      this.takes[resultOf(taken)] += 1;
      // The former owner may report its last call only now, so the next call asks again.
      this.#programs.set(program, isCurrent && taken !== undefined && taken.from === undefined);
      return taken;
    });
    this.#taking.set(program, taking);
    return taking;
  }

  parts(parts: readonly EnginePart[]): void {
    for (const event of this.#member.received(parts)) this.ports.emit(event);
  }

  moved(program: ProgramId): void {
    // A question under way was answered before.
    this.#taking.delete(program);
    this.#programs.delete(program);
    this.ports.emit({ type: 'programMoved', program });
  }

  *owned(): Generator<readonly [ProgramId, ProgramRecord]> {
    for (const program of [...this.#programs.keys()]) {
      const record = this.ports.views().record(program);
      if (record !== undefined) yield [program, record];
    }
  }

  #put(program: ProgramId): void {
    const record = this.ports.views().record(program);
    if (record !== undefined) this.shared.put(program, record);
  }

  readonly #exchange = (): void => {
    this.#rounds.begin(this.ports.clock.nowMs());
    for (const program of this.#changed) this.#put(program);
    this.#changed.clear();
    const { claims, released, returned } = this.#member.changes();
    for (const event of returned) this.ports.emit(event);
    for (const engine of released) this.shared.release(engine);
    if (claims.length === 0) return;
    void this.shared.claim(claims).then((parts) => {
      this.#member.settled(new Set(parts.map(({ engine }) => engine)));
      this.parts(parts);
      // Changes in the meantime.
      this.stepped();
    });
  };
}

function resultOf(taken: Taken | undefined): TakeResult {
  if (taken === undefined) return 'unanswered';
  if (taken.from !== undefined) return 'moved';
  return taken.record === undefined ? 'new' : 'kept';
}

function elsewhereOf({ contexts, ...record }: ProgramRecord, thread: string): Elsewhere {
  const contextTokens = contexts[thread];
  return { ...record, ...(contextTokens !== undefined && { contextTokens }) };
}
