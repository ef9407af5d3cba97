import type { CallArrived, CallFinished, CallId, Command, EngineId, Event, Millis } from '../../src/index.js';
import type { ProgramId, Refusal, SchedulerConfig } from '../../src/index.js';
import type { Steps } from '../virtual/options.js';
import { MruProgram, Rank, type MruCall } from './mru-program.js';
import { ReturnsWindow } from './returns-window.js';

/** As documented for vLLM Router (docs/program_scheduling.md of its repository), each at its default. */
const IDLE_MS_MAX = 10_000;
const FORCE_MS = 300_000;
const ROUNDS_MAX = 14;
const DECODE_BUFFER_TOKENS = 100;
const ACTIVE_MAX = 64;
const HEADROOM = 1.2;
/** Calls in an engine's own queue at which it gets no more. */
const ENGINE_WAITING_MAX = 1;

/**
 * Program scheduling as in vLLM Router, by our reading of its documentation, with its queue over all engines.
 *
 * Programs are active or paused. An active one holds its contexts' tokens of its engine's capacity, working or idle;
 * its calls are dispatched at once. A new or a paused one becomes active when its engine has room, the most recently
 * used first. Another engine with that much more room takes it too, the longest waiting
 * first. After 300 s of waiting it becomes active whatever the room. An idle program is paused in three cases. First,
 * after a time of at most 10 s, set by the past worth of waiting for returns. Second, after 14 calls in a row while
 * others wait; it then goes behind them once. Third, when its engine's capacity is exceeded (both watermarks
 * are 1 by default).
 *
 * Left out: the reserve for growth and its bypass by batch gain, priorities and deadlines in requests, shared prefixes.
 * A new program is bound to the engine with fewest active programs. The worth of a return is the prefill of a whole
 * cache, by `policy.msPerPromptToken`, since an idle context holds its share of the cache. Limits and timeouts are the
 * core's. Made for virtual time, with a fixed set of engines that never fail.
 */
export class MruPause implements Steps {
  readonly totals = { promotions: 0 };
  readonly #ranks = new Map<EngineId, Rank>();
  readonly #programs = new Map<ProgramId, MruProgram>();
  readonly #calls = new Map<CallId, MruCall>();
  /** Calls of paused programs, oldest first. */
  readonly #kept = new Set<MruCall>();
  /** Active programs without a running call, and a time no later than the first of their pauses. */
  readonly #idle = new Set<MruProgram>();
  #idleCheckMs = Infinity;
  /** Paused programs without a call, longest unused first. */
  readonly #resting = new Set<MruProgram>();
  readonly #returns = new ReturnsWindow();
  /** Whether room for a paused program may have appeared since the last look. */
  #stirred = false;
  #nowMs = 0;
  #wakeAtMs = Infinity;
  #out: Command[] = [];

  constructor(private readonly config: SchedulerConfig) {}

  step(event: Event, now: Millis): Command[] {
    this.#nowMs = now;
    this.#out = [];
    if (event.type === 'woke') this.#wakeAtMs = Infinity;
    this.#passTime();
    this.#apply(event);
    this.#repair();
    if (this.#stirred) this.#resume();
    if (event.type === 'callArrived' && this.#kept.size > this.config.limits.queuedMax)
      this.#reject(this.#calls.get(event.call), 'queue_full');
    this.#planWake();
    return this.#out;
  }

  #apply(event: Event): void {
    switch (event.type) {
      case 'callArrived':
        return this.#arrive(event);
      case 'callFinished':
        return this.#finish(event);
      case 'callCancelled':
        return this.#end(this.#calls.get(event.call));
      case 'programEnded': {
        const program = this.#programs.get(event.program);
        if (program !== undefined && program.running.size + program.kept.size === 0) this.#forget(program);
        return;
      }
      case 'engineJoined':
        this.#ranks.set(event.engine, new Rank(event.engine, event.capacityTokens ?? Infinity));
        return;
      case 'engineReported': {
        const rank = this.#ranks.get(event.engine);
        if (rank !== undefined) rank.waiting = event.waiting ?? 0;
        this.#stirred = true;
        return;
      }
      case 'callStarted':
      case 'callProgressed':
      case 'programHinted':
      case 'programMoved':
      case 'engineShared':
      case 'woke':
        return;
      case 'callFailed':
      case 'engineLost':
      case 'engineDrained':
        throw new Error(`mru-pause runs in virtual time, where there is no ${event.type}`);
      default:
        event satisfies never;
    }
  }

  #arrive(event: CallArrived): void {
    const program = this.#programs.get(event.program) ?? this.#begin(event.program);
    if (program === undefined) {
      this.#out.push({ type: 'reject', call: event.call, refusal: 'no_engine' });
      return;
    }
    const call: MruCall = { event, program, arrivedMs: this.#nowMs };
    this.#calls.set(event.call, call);
    if (program.callsEnded > 0 && program.running.size + program.kept.size === 0)
      this.#returns.learn(this.#nowMs - program.usedMs);
    program.usedMs = this.#nowMs;
    program.saw(event.thread, event.promptTokens + DECODE_BUFFER_TOKENS);
    this.#resting.delete(program);
    if (program.active) return this.#dispatch(call, 'home');
    program.kept.add(call);
    this.#kept.add(call);
    this.#stirred = true;
  }

  #begin(id: ProgramId): MruProgram | undefined {
    let rank: Rank | undefined;
    for (const other of this.#ranks.values())
      if (rank === undefined || other.active.size < rank.active.size) rank = other;
    if (rank === undefined) return undefined;
    const program = new MruProgram(id, rank, this.#nowMs);
    this.#programs.set(id, program);
    return program;
  }

  #dispatch(call: MruCall, placement: 'home' | 'bound' | 'spilled'): void {
    const { program, event, arrivedMs } = call;
    const queueMs = (this.#nowMs - arrivedMs) as Millis;
    program.running.add(call);
    this.#idle.delete(program);
    const reason = queueMs > 0 ? 'queued' : 'direct';
    this.#out.push({
      type: 'dispatch',
      call: event.call,
      engine: program.rank.id,
      level: 0,
      queueMs,
      reason,
      placement,
    });
  }

  #finish({ call: id, usage }: CallFinished): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    const { program, event } = call;
    program.running.delete(call);
    if (usage !== undefined) program.saw(event.thread, usage.promptTokens + usage.outputTokens);
    program.rounds += 1;
    this.#end(call);
  }

  #reject(call: MruCall | undefined, refusal: Refusal): void {
    if (call === undefined || !this.#kept.has(call)) return;
    this.#out.push({ type: 'reject', call: call.event.call, refusal });
    this.#end(call);
  }

  /** Removes the call from wherever it is. */
  #end(call: MruCall | undefined): void {
    if (call === undefined) return;
    const { program } = call;
    this.#calls.delete(call.event.call);
    this.#kept.delete(call);
    program.kept.delete(call);
    program.running.delete(call);
    program.callsEnded += 1;
    program.usedMs = this.#nowMs;
    this.#stirred = true;
    if (program.running.size > 0) return;
    if (!program.active) {
      if (program.kept.size === 0) this.#resting.add(program);
      return;
    }
    program.yielded = program.rounds >= ROUNDS_MAX && this.#isWanted(program.rank);
    const savedMs = program.rank.capacityTokens * this.config.policy.msPerPromptToken;
    const holdMs = this.#returns.bestWaitMs(savedMs, IDLE_MS_MAX);
    if (program.overdrawn || program.yielded || holdMs === 0) return this.#pause(program);
    program.idleUntilMs = this.#nowMs + holdMs;
    this.#idle.add(program);
    this.#idleCheckMs = Math.min(this.#idleCheckMs, program.idleUntilMs);
  }

  /** Whether a kept call waits for the engine. */
  #isWanted(rank: Rank): boolean {
    for (const call of this.#kept) if (call.program.rank === rank) return true;
    return false;
  }

  #pause(program: MruProgram): void {
    program.pause();
    this.#idle.delete(program);
    this.#resting.add(program);
    this.#stirred = true;
  }

  #forget(program: MruProgram): void {
    if (program.active) this.#pause(program);
    this.#resting.delete(program);
    this.#programs.delete(program.id);
  }

  #passTime(): void {
    const { queueMs, leaseMs } = this.config.timeouts;
    if (this.#idleCheckMs <= this.#nowMs) {
      this.#idleCheckMs = Infinity;
      for (const program of this.#idle) {
        if (program.idleUntilMs <= this.#nowMs) this.#pause(program);
        else this.#idleCheckMs = Math.min(this.#idleCheckMs, program.idleUntilMs);
      }
    }
    for (const program of this.#resting) {
      if (program.usedMs + leaseMs > this.#nowMs) break;
      this.#forget(program);
    }
    for (const call of this.#kept) {
      // Compared as sums, as in `#planWake`: a difference may round down, and the wake would repeat for ever.
      if (call.arrivedMs + queueMs <= this.#nowMs) this.#reject(call, 'queue_timeout');
      else if (call.arrivedMs + FORCE_MS > this.#nowMs) break;
      else {
        this.totals.promotions += 1;
        this.#activate(call.program, call.program.rank);
      }
    }
  }

  /** Over its capacity, marks working programs to be paused, the longest unused first, until the rest fits. */
  #repair(): void {
    for (const rank of this.#ranks.values()) {
      if (rank.usedTokens <= rank.capacityTokens) continue;
      const working = [...rank.active].filter((program) => program.running.size > 0);
      let usedTokens = working.reduce((sum, each) => sum - (each.overdrawn ? each.tokens : 0), rank.usedTokens);
      for (const program of working.sort((a, b) => a.usedMs - b.usedMs).slice(0, -1)) {
        if (usedTokens <= rank.capacityTokens) break;
        if (program.overdrawn) continue;
        program.overdrawn = true;
        usedTokens -= program.tokens;
      }
    }
  }

  #resume(): void {
    this.#stirred = false;
    if (this.#kept.size === 0) return;
    for (const rank of this.#ranks.values()) {
      if (!isOpen(rank)) continue;
      const paused = new Set<MruProgram>();
      for (const { program } of this.#kept) if (program.rank === rank) paused.add(program);
      for (const program of [...paused].sort(inTurn)) if (admits(rank, program)) this.#activate(program, rank);
    }
    for (const { program } of this.#kept) {
      if (program.active) continue;
      const target = this.#roomiest();
      if (target === undefined) return;
      if (target.freeTokens < program.rank.freeTokens + HEADROOM * program.tokens || !admits(target, program)) continue;
      this.#activate(program, target);
    }
  }

  #roomiest(): Rank | undefined {
    let best: Rank | undefined;
    for (const rank of this.#ranks.values())
      if (isOpen(rank) && (best === undefined || rank.freeTokens > best.freeTokens)) best = rank;
    return best;
  }

  #activate(program: MruProgram, rank: Rank): void {
    const placement = rank !== program.rank ? 'spilled' : program.callsEnded === 0 ? 'bound' : 'home';
    program.activate(rank);
    for (const call of program.kept) {
      this.#kept.delete(call);
      this.#dispatch(call, placement);
    }
    program.kept.clear();
  }

  #planWake(): void {
    const { queueMs, leaseMs } = this.config.timeouts;
    const [oldest] = this.#kept;
    const [resting] = this.#resting;
    const at = Math.min(
      this.#idleCheckMs,
      (oldest?.arrivedMs ?? Infinity) + Math.min(queueMs, FORCE_MS),
      (resting?.usedMs ?? Infinity) + leaseMs,
    );
    if (at === this.#wakeAtMs || at === Infinity) return;
    this.#wakeAtMs = at;
    this.#out.push({ type: 'wakeAt', at: at as Millis });
  }
}

/** Whether the engine accepts any program now. An empty one always does, so that no program waits for ever. */
function isOpen(rank: Rank): boolean {
  if (rank.active.size === 0) return true;
  return rank.active.size < ACTIVE_MAX && rank.waiting < ENGINE_WAITING_MAX && rank.freeTokens > 0;
}

function admits(rank: Rank, program: MruProgram): boolean {
  if (rank.active.size === 0) return true;
  return isOpen(rank) && rank.usedTokens + program.tokens <= rank.capacityTokens;
}

/** Programs that have yielded come last; then the most recently used first. */
function inTurn(a: MruProgram, b: MruProgram): number {
  return a.yielded !== b.yielded ? Number(a.yielded) - Number(b.yielded) : b.usedMs - a.usedMs;
}
