import type { Command, Dispatch, EngineId, Event, ModelId } from '../../src/index.js';

/** A driver's knowledge of a call: only from its events to the scheduler and the scheduler's commands. */
export interface BookedCall {
  readonly id: string;
  readonly seq: number;
  readonly program: string;
  readonly tenant: string;
  readonly thread: string;
  readonly model: ModelId;
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly arrivedAtMs: number;
  state: 'waiting' | 'running' | 'over';
  engine: string | undefined;
  /** Start of its present wait or run, and its waiting before that. */
  sinceMs: number;
  waitedMs: number;
  attempts: number;
  /** Engines that failed it, and from when on they may run it again. */
  readonly failedOn: Set<string>;
  retryAtMs: number;
  /** How it ended, once for each time that it was said to end. */
  readonly ends: string[];
}

export interface BookedEngine {
  readonly id: string;
  state: 'up' | 'lost' | 'draining';
  models: readonly ModelId[];
  windowMax: number | undefined;
  capacityTokens: number | undefined;
  probation: boolean;
  /** It could not be reached. */
  restUntilMs: number;
  /** When it last said "no room" to a program that some engine had served. */
  refusedAtMs: number;
  /** Each program that it said so to: the time, and the end of the rest that it asked for. */
  readonly refused: Map<string, { readonly atMs: number; readonly untilMs: number }>;
}

/** Whether an engine may run a call again that engines have failed. */
export function mayRetry(call: BookedCall, engine: BookedEngine, nowMs: number): boolean {
  if (call.failedOn.size === 0) return true;
  return !engine.probation && (!call.failedOn.has(engine.id) || nowMs >= call.retryAtMs);
}

/**
 * Longest time after a refusal in which an engine may hold calls back: rests double up to 8 s, then it is probed, and
 * drivers may be a minute late.
 */
const HELD_MS = 80_000;

/** Whether the engine may rest for the call: it refused its program, or programs that had been served. */
export function mayHold({ program }: BookedCall, engine: BookedEngine, nowMs: number): boolean {
  const atMs = Math.max(engine.refusedAtMs, engine.refused.get(program)?.atMs ?? -Infinity);
  return nowMs < Math.max(engine.restUntilMs, atMs + HELD_MS);
}

/** A dispatch, and what the engine was doing just before it. */
export interface BookedDispatch {
  readonly command: Dispatch;
  readonly call: BookedCall | undefined;
  readonly stateBefore: BookedCall['state'] | undefined;
  readonly runningBefore: number;
}

/** A driver's own record of a run, from events and commands alone, against which invariants are checked. */
export class Book {
  readonly calls = new Map<string, BookedCall>();
  readonly engines = new Map<string, BookedEngine>();
  /** Every call that has not ended. */
  readonly active = new Map<string, BookedCall>();
  /** Dispatches of the last step, in order. */
  dispatches: BookedDispatch[] = [];
  /** Programs that were ended with calls in flight: their ids may name new programs beside these calls. */
  readonly endedEarly = new Set<string>();
  readonly rejectedOnArrival = new Set<string>();
  readonly #served = new Set<string>();
  #seq = 0;

  /** @param event undefined when the settings were changed instead */
  take(event: Event | undefined, nowMs: number, commands: readonly Command[]): void {
    this.dispatches = [];
    // Timeouts come before the event of the step: a call that both times out and is cancelled has timed out.
    const failing = event?.type === 'callFailed' ? event.call : undefined;
    const isTimeout = (command: Command) =>
      command.type === 'reject' &&
      (command.refusal === 'queue_timeout' || (command.refusal === 'no_engine' && this.active.has(command.call))) &&
      command.call !== failing;
    const timeouts = commands.filter(isTimeout);
    for (const command of timeouts) this.#heed(command, nowMs);
    if (event !== undefined) this.#apply(event, nowMs);
    for (const command of commands) if (!timeouts.includes(command)) this.#heed(command, nowMs);
  }

  running(engine?: string): BookedCall[] {
    return [...this.active.values()].filter(
      (call) => call.state === 'running' && (engine === undefined || call.engine === engine),
    );
  }

  waiting(): BookedCall[] {
    return [...this.active.values()].filter((call) => call.state === 'waiting');
  }

  serving(model: ModelId): BookedEngine[] {
    return [...this.engines.values()].filter((engine) => engine.state === 'up' && engine.models.includes(model));
  }

  /** Whether the engine may not leave the waiting call to others: it does not rest for it, and may try it now. */
  mayTry(call: BookedCall, engine: BookedEngine, nowMs: number): boolean {
    if (mayHold(call, engine, nowMs) || !mayRetry(call, engine, nowMs)) return false;
    // It waits for an engine that has not failed it, though that one rests.
    const untried = this.serving(call.model).filter(({ id, probation }) => !probation && !call.failedOn.has(id));
    return !call.failedOn.has(engine.id) || untried.length === 0;
  }

  #apply(event: Event, nowMs: number): void {
    switch (event.type) {
      case 'callArrived': {
        const call: BookedCall = {
          id: event.call,
          seq: this.#seq++,
          program: event.program,
          tenant: event.tenant,
          thread: event.thread,
          model: event.model,
          promptTokens: event.promptTokens,
          maxTokens: event.maxTokens ?? Infinity,
          arrivedAtMs: nowMs,
          state: 'waiting',
          engine: undefined,
          sinceMs: nowMs,
          waitedMs: 0,
          attempts: 0,
          failedOn: new Set(),
          retryAtMs: -Infinity,
          ends: [],
        };
        this.calls.set(call.id, call);
        this.active.set(call.id, call);
        return;
      }
      case 'callFinished': {
        const call = this.#runningCall(event.call);
        if (call !== undefined) {
          this.#accept(call);
          this.#served.add(call.program);
        }
        return this.#end(call, 'finished');
      }
      case 'callFailed':
        return this.#fail(this.#runningCall(event.call), event, nowMs);
      case 'callCancelled':
        return this.#end(this.active.get(event.call), 'cancelled');
      case 'engineJoined': {
        const { engine: id, models, windowMax, capacityTokens, probation = false } = event;
        const known = this.engines.get(id);
        const isNew = known === undefined || known.state === 'lost' || this.#isForgotten(known);
        const { restUntilMs, refusedAtMs, refused } = isNew
          ? { restUntilMs: -Infinity, refusedAtMs: -Infinity, refused: new Map() }
          : known;
        const rests = { restUntilMs, refusedAtMs, refused };
        const state = event.down === true ? 'lost' : 'up';
        this.engines.set(id, { id, state, models, windowMax, capacityTokens, probation, ...rests });
        return;
      }
      case 'engineLost':
        return this.#leave(event.engine, 'lost');
      case 'engineDrained':
        return this.#leave(event.engine, 'draining');
      case 'callStarted': {
        const call = this.#runningCall(event.call);
        if (call !== undefined) this.#accept(call);
        return;
      }
      case 'programEnded':
        for (const { program } of this.active.values()) if (program === event.program) this.endedEarly.add(program);
        return;
      case 'callProgressed':
      case 'engineReported':
      // These plays have one gateway.
      case 'engineShared':
      case 'programMoved':
      case 'woke':
        return;
    }
  }

  #heed(command: Command, nowMs: number): void {
    if (command.type === 'reject') {
      const call = this.calls.get(command.call);
      call?.ends.push(`rejected: ${command.refusal}`);
      if (call !== undefined) this.#over(call);
    } else if (command.type === 'dispatch') {
      const call = this.calls.get(command.call);
      const runningBefore = this.running(command.engine).length;
      this.dispatches.push({ command, call, stateBefore: call?.state, runningBefore });
      if (call?.state !== 'waiting') return;
      call.waitedMs += nowMs - call.sinceMs;
      call.state = 'running';
      call.engine = command.engine;
      call.sinceMs = nowMs;
    } else if (command.type === 'programGone') {
      // Its id may name a newer program, with calls of its own.
      const isNamed = [...this.active.values()].some(({ program }) => program === command.program);
      if (!isNamed) for (const { refused } of this.engines.values()) refused.delete(command.program);
    }
  }

  #runningCall(id: string): BookedCall | undefined {
    const call = this.active.get(id);
    return call?.state === 'running' ? call : undefined;
  }

  #fail(call: BookedCall | undefined, event: Event & { type: 'callFailed' }, nowMs: number): void {
    if (call === undefined) return;
    // A 4xx is an answer: the engine is healthy.
    if (event.failure === 'refused') this.#clear(call.engine!);
    if (event.failure === 'lost' || event.failure === 'refused') return this.#end(call, event.failure);
    const engine = this.engines.get(call.engine!);
    if (event.failure === 'broken') {
      call.attempts += 1;
      call.failedOn.add(call.engine!);
      call.retryAtMs = nowMs + (event.pauseMs ?? 0);
    } else if (engine !== undefined && event.failure === 'unreached')
      engine.restUntilMs = nowMs + Math.max(1, event.restMs);
    else if (engine !== undefined) {
      if (this.#served.has(call.program)) engine.refusedAtMs = nowMs;
      const asked = { atMs: nowMs, untilMs: nowMs + Math.max(1, event.restMs) };
      const known = engine.refused.get(call.program);
      if (known === undefined || call.sinceMs > known.atMs) engine.refused.set(call.program, asked);
      // A call that was in flight already lengthens the rest, and an answer to one of that time still ends it.
      else engine.refused.set(call.program, { ...known, untilMs: Math.max(known.untilMs, asked.untilMs) });
    }
    call.state = 'waiting';
    call.engine = undefined;
    call.sinceMs = nowMs;
  }

  #end(call: BookedCall | undefined, how: string): void {
    if (call === undefined) return;
    call.ends.push(how);
    this.#over(call);
  }

  #over(call: BookedCall): void {
    call.state = 'over';
    this.active.delete(call.id);
  }

  /** A drained engine is forgotten with its last call. */
  #isForgotten({ id, state }: BookedEngine): boolean {
    return state === 'draining' && this.running(id).length === 0;
  }

  /** Its engine answers the call. */
  #accept({ engine, program, sinceMs }: BookedCall): void {
    this.#clear(engine!);
    const refused = this.engines.get(engine!)?.refused;
    if (sinceMs > (refused?.get(program)?.atMs ?? Infinity)) refused?.delete(program);
  }

  #clear(engine: string): void {
    const found = this.engines.get(engine);
    if (found !== undefined) found.probation = false;
  }

  #leave(id: EngineId, state: 'lost' | 'draining'): void {
    const engine = this.engines.get(id);
    if (engine !== undefined) engine.state = state;
  }
}
