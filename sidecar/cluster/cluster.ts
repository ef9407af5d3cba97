import { LRUCache } from 'lru-cache';
import { elsewhereOf, Member, Rounds } from '../../cluster/index.js';
import type { EngineClaim, EnginePart, SharedListener, SharedState, StoreState, Taken } from '../../cluster/index.js';
import type { Elsewhere, Event, ProgramId, ProgramRecord, TenantId, Views } from '../../src/index.js';
import type { Log } from '../engines/index.js';
import type { Identity } from '../identity/identity.js';
import { labelOf } from '../identity/names.js';

export interface ClusterPorts {
  readonly emit: (event: Event) => void;
  readonly views: Views;
  /** Most programs to remember as this gateway's own. */
  readonly programsMax: number;
  readonly log: Log;
}

/** Results of asking for a program: `maitred_cluster_takes_total{result}`. */
export const TAKES = ['new', 'kept', 'moved', 'unanswered'] as const;

/**
 * This gateway's part in its cluster: it reports every step's changes to the store, and the others' changes to the scheduler.
 *
 *     after a step        claims of engines, homes of programs     ──▶ store
 *     after a call        the program's record                     ──▶ store
 *     parts, moves        engineShared, programMoved               ◀── store
 *     before an arrival   the program, if it is not ours           ◀─▶ store
 *
 * Nothing here fails, or waits longer than the store's time limit.
 */
export class Cluster implements SharedListener {
  #shared!: SharedState;
  readonly #member: Member;
  /** Programs with calls here since they last moved; true: no other gateway can have had calls since. */
  readonly #programs: LRUCache<ProgramId, boolean>;
  readonly #taking = new Map<ProgramId, Promise<Taken | undefined>>();
  /** Programs with a call dispatched since their records were last written. */
  readonly #changed = new Set<ProgramId>();
  readonly #rounds = new Rounds();
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;
  /** Programs asked for, by result. */
  readonly takes: Record<(typeof TAKES)[number], number> = { new: 0, kept: 0, moved: 0, unanswered: 0 };

  /** @param join connects to the store, and registers this listener for the others' messages */
  static async open(ports: ClusterPorts, join: (listener: SharedListener) => Promise<SharedState>): Promise<Cluster> {
    const cluster = new Cluster(ports);
    cluster.#shared = await join(cluster);
    return cluster;
  }

  private constructor(private readonly ports: ClusterPorts) {
    this.#member = new Member(() => ports.views.demands());
    // `max` would reserve memory for all of them in advance.
    this.#programs = new LRUCache({ maxSize: ports.programsMax, sizeCalculation: () => 1 });
  }

  get state(): StoreState {
    return this.#shared.state;
  }

  /** `alone`: the store is away. `split`: so it is, and others may go on with it. */
  get standing(): 'shared' | 'alone' | 'split' {
    const { up, live } = this.#shared.state;
    return up ? 'shared' : live > 1 ? 'split' : 'alone';
  }

  /** Whether no other gateway has had calls of the program since its last one here. */
  owns(program: ProgramId): boolean {
    return this.#programs.get(program) === true;
  }

  // Messages from the gateway.

  /** The event, marked if it announces an engine: others use it too. */
  announced(event: Event): Event {
    if (event.type !== 'engineJoined') return event;
    this.#member.joined(event.engine);
    return { ...event, shared: true };
  }

  /** The scheduler has made a step. */
  stepped(): void {
    if (!this.#isOpen) return;
    const isUrgent = this.#member.isWanted || this.ports.views.waiting > 0;
    const atMs = this.#rounds.plan(isUrgent, this.#shared.state.live, this.#member.engines);
    if (atMs === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#exchange(), Math.max(0, atMs - performance.now()));
  }

  /** A call of the program was dispatched. */
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
    if (isOwn) this.#shared.forget(program);
    // Its owner hears that it has moved, and counts its contexts no more.
    else void this.#shared.take(program).then(() => this.#shared.forget(program));
  }

  /** The scheduler has forgotten the program. The store keeps its record. */
  gone(program: ProgramId): void {
    this.#changed.delete(program);
    this.#programs.delete(program);
  }

  /** @param name the program or the engine that the key names */
  remember(tenant: TenantId, key: string, name: string): void {
    this.#shared.remember(tenant, key, name);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await this.#shared.leave();
  }

  // Questions of the gateway.

  /** The call's identity by another gateway's answers, if the call continues one; otherwise as given. */
  async identify(tenant: TenantId, { sought, ...identity }: Identity): Promise<Identity> {
    if (sought === undefined) return identity;
    const program = (await this.#shared.find(tenant, sought.keys)) as ProgramId | undefined;
    return program === undefined ? identity : { ...identity, program, label: labelOf(program), source: sought.source };
  }

  find(tenant: TenantId, key: string): Promise<string | undefined> {
    return this.#shared.find(tenant, [key]);
  }

  /**
   * Takes over the program for a call, unless it is this gateway's. Returns the others' knowledge of it.
   * @param isMade whether the program's id was made here just now, so that nobody knows it
   */
  async take({ program, thread }: Identity, isMade: boolean): Promise<Elsewhere | undefined> {
    if (this.owns(program)) return undefined;
    if (isMade) {
      this.#programs.set(program, true);
      return undefined;
    }
    const { record } = (await this.#take(program)) ?? {};
    return record && elsewhereOf(record, thread);
  }

  /** One question at a time for each program. */
  #take(program: ProgramId): Promise<Taken | undefined> {
    const known = this.#taking.get(program);
    if (known !== undefined) return known;
    const taking = this.#shared.take(program).then((taken) => {
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

  // Messages to the gateway.

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
      const record = this.ports.views.record(program);
      if (record !== undefined) yield [program, record];
    }
  }

  changed({ up, live, error }: StoreState): void {
    if (up) this.ports.log.info({ gateways: live }, 'shared state is in use');
    else this.ports.log.warn({ gateways: live, cause: error }, 'no shared state: this gateway continues alone');
  }

  #put(program: ProgramId): void {
    const record = this.ports.views.record(program);
    if (record !== undefined) this.#shared.put(program, record);
  }

  #exchange(): void {
    this.#rounds.begin(performance.now());
    for (const program of this.#changed) this.#put(program);
    this.#changed.clear();
    const { claims, released, returned } = this.#member.changes();
    for (const event of returned) this.ports.emit(event);
    for (const engine of released) this.#shared.release(engine);
    if (claims.length > 0) void this.#claim(claims);
  }

  async #claim(claims: readonly EngineClaim[]): Promise<void> {
    const parts = await this.#shared.claim(claims);
    this.#member.settled(new Set(parts.map(({ engine }) => engine)));
    this.parts(parts);
    // Changes in the meantime.
    this.stepped();
  }
}

function resultOf(taken: Taken | undefined): (typeof TAKES)[number] {
  if (taken === undefined) return 'unanswered';
  if (taken.from !== undefined) return 'moved';
  return taken.record === undefined ? 'new' : 'kept';
}
