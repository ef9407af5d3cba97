import type { Call } from './call.js';
import type { SchedulerConfig } from './config.js';
import type { EngineJoined, EngineReported } from './events.js';
import { Lane, type Room } from './lane.js';
import type { Pool } from './pool.js';
import { Residency } from './residency.js';
import type { Returns } from './returns.js';
import type { EngineId } from './units.js';
import { Window } from './window.js';

/**
 * One engine replica as the scheduler sees it.
 *
 *     up ──engineLost──> lost ──engineJoined──> up          lost: its waiting calls go elsewhere, its row stays
 *      └──engineDrained──> draining ──last call ends──> removed
 */
export class Engine {
  state: 'up' | 'lost' | 'draining' = 'up';
  /** Counts losses: what was bound to an earlier life is bound to nothing. */
  life = 0;
  /** Half-open: one call at a time until one has finished. */
  probation = false;
  /** Said "no room": nothing goes there before this time. */
  restUntilMs = -Infinity;

  pools: readonly Pool[] = [];
  window: Window;
  #windowMax: number | undefined;
  capacityTokens: number | undefined;
  readonly residency: Residency;
  readonly running = new Set<Call>();
  /** Context tokens of its running calls, and of the calls that wait for it alone. */
  runningTokens = 0;
  pinnedTokens = 0;
  /** Calls that wait for this engine alone. */
  readonly pinned = new Lane();
  /** A call that has waited for room here: nothing behind it may take the room. */
  reservedFor: Call | undefined;

  constructor(
    readonly id: EngineId,
    /** Order of joining: breaks every tie between engines. */
    readonly index: number,
    config: SchedulerConfig['admission'],
    returns: Returns,
    joined: EngineJoined,
  ) {
    this.residency = new Residency(returns);
    this.#windowMax = joined.windowMax;
    this.window = new Window(config, joined.windowMax);
  }

  /** Takes what `engineJoined` says; pools apart. What the window has learnt stays unless its limit is another. */
  join(config: SchedulerConfig['admission'], joined: EngineJoined): void {
    this.state = 'up';
    this.restUntilMs = -Infinity;
    this.probation = joined.probation ?? false;
    this.capacityTokens = joined.capacityTokens;
    this.residency.capacityTokens = joined.capacityTokens ?? Infinity;
    if (joined.windowMax === this.#windowMax) return;
    this.#windowMax = joined.windowMax;
    this.resetWindow(config);
  }

  resetWindow(config: SchedulerConfig['admission']): void {
    this.window = new Window(config, this.#windowMax);
  }

  leave(state: 'lost' | 'draining'): void {
    this.state = state;
    this.life += 1;
    this.residency.clear();
  }

  report(event: EngineReported): void {
    this.window.report(event.waiting, event.kvUsage, event.preemptions);
  }

  /** In-flight work and work bound to come, in tokens: what load balancing compares. */
  get loadTokens(): number {
    return this.runningTokens + this.pinnedTokens;
  }

  get inFlight(): number {
    return this.running.size;
  }

  get windowSize(): number {
    return this.probation ? 1 : this.window.size;
  }

  /** Whether it takes calls at all now. */
  isOpen(nowMs: number): boolean {
    return this.state === 'up' && nowMs >= this.restUntilMs;
  }

  /** Most tokens that the working set may take. Without a gate or with unknown capacity: no bound. */
  gateTokens(gate: number): number {
    return gate === 0 || this.capacityTokens === undefined ? Infinity : gate * this.capacityTokens;
  }

  /** What the gate has left. An empty engine has room for anything, so that nothing can deadlock. */
  room(gate: number): Room {
    const gateTokens = this.running.size === 0 ? Infinity : this.gateTokens(gate);
    const { workingSetTokens, activeTokens } = this.residency;
    return { spareTokens: gateTokens - workingSetTokens, wholeTokens: gateTokens - activeTokens };
  }

  /** What the call would add to the contexts in flight here: parallel calls of a thread share theirs. */
  extraTokens(call: Call): number {
    const context = this.residency.get(call.program, call.thread);
    const shared = context !== undefined && context.active > 0 ? context.tokens : 0;
    return Math.max(0, call.needTokens - shared);
  }
}
