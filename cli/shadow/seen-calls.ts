import { LRUCache } from 'lru-cache';
import {
  endsCall,
  programId,
  type CallArrived,
  type CallId,
  type Command,
  type EngineId,
  type EngineJoined,
  type Event,
  type ProgramId,
  type Usage,
} from '../../src/index.js';

/** A call as the scheduler's steps tell of it. Times are milliseconds on the driver's clock; NaN: not yet. */
export interface SeenCall {
  /** Only what estimates read. The id of its program is that of the program's first call. */
  readonly arrival: CallArrived;
  readonly arrivedMs: number;
  readonly engine: EngineId | undefined;
  readonly dispatchedMs: number;
  readonly firstTokenMs: number;
  readonly endedMs: number;
  /** Undefined for calls that ended without an answer, and where the engine told none. */
  readonly usage: Usage | undefined;
}

export type Seen = Readonly<ReturnType<SeenCalls['seen']>>;

/** Latest time and most calls that an estimate covers. */
export const LIMITS = { windowMs: 900_000, callsMax: 20_000 };
/** Calls above the most that are dropped at once: an array is slow to lose its first ones. */
const DROPPED = 500;

type Growing = { -readonly [Key in keyof SeenCall]: SeenCall[Key] };

/**
 * Makes calls of the scheduler's steps, and keeps the latest. Background calls are left out: `pass-through` would not hold them back,
 * so nothing could be compared.
 */
export class SeenCalls {
  readonly #engines = new Map<EngineId, EngineJoined>();
  readonly #open = new Map<CallId, Growing>();
  #ended: SeenCall[] = [];
  /** The first call of each program. Programs that were refused never leave the process table, so it has a bound. */
  readonly #programs: LRUCache<ProgramId, CallId>;

  constructor(
    private sinceMs: number,
    programsMax: number,
    private readonly limits = LIMITS,
    /** Called as the window begins anew. */
    private readonly restarted = (): void => undefined,
  ) {
    this.#programs = new LRUCache({ max: programsMax });
  }

  /** The calls that ended in a window, those that wait or run at its end, and the engines. */
  seen(nowMs: number) {
    const fromMs = nowMs - this.limits.windowMs;
    const late = this.#ended.findIndex(({ endedMs }) => endedMs >= fromMs);
    this.#drop(Math.max(late < 0 ? this.#ended.length : late, this.#ended.length - this.limits.callsMax));
    this.sinceMs = Math.max(this.sinceMs, fromMs);
    const [ended, open, engines] = [[...this.#ended], [...this.#open.values()], [...this.#engines.values()]];
    return { ended, open, engines, sinceMs: this.sinceMs, nowMs };
  }

  /** Earlier measurements cannot be compared with later ones. */
  restart(nowMs: number): void {
    this.sinceMs = nowMs;
    this.#ended = [];
    this.restarted();
  }

  step(event: Event, now: number, commands: readonly Command[]): void {
    if (event.type === 'callArrived') {
      if (event.background !== true) this.#arrived(event, now);
    } else if ('call' in event) this.#told(event, now);
    else if (event.type === 'programEnded') this.#programs.delete(event.program);
    else if ('engine' in event) this.#fleet(event, now);
    for (const command of commands) {
      if (command.type === 'dispatch') {
        const seen = this.#open.get(command.call);
        if (seen !== undefined) [seen.engine, seen.dispatchedMs] = [command.engine, now];
      } else if (command.type === 'reject') this.#end(command.call, now);
      // The next program of an ended one's name may be there already.
      else if (command.type === 'programGone' && command.cause !== 'ended') this.#programs.delete(command.program);
    }
  }

  #arrived({ type, call, program, tenant, thread, model, promptTokens, family, waitMsMax }: CallArrived, now: number) {
    const first = this.#programs.get(program) ?? call;
    this.#programs.set(program, first);
    const arrival = {
      type,
      call,
      program: programId(first),
      tenant,
      thread,
      model,
      promptTokens,
      ...(family && { family }),
      ...(waitMsMax !== undefined && { waitMsMax }),
    };
    this.#open.set(call, {
      arrival,
      arrivedMs: now,
      engine: undefined,
      dispatchedMs: NaN,
      firstTokenMs: NaN,
      endedMs: NaN,
      usage: undefined,
    });
  }

  #told(event: Exclude<Extract<Event, { call: CallId }>, CallArrived>, now: number): void {
    if (event.type === 'callProgressed') return;
    const seen = this.#open.get(event.call);
    if (seen === undefined) return;
    if (event.type === 'callStarted') seen.firstTokenMs = now;
    else if (endsCall(event)) this.#end(event.call, now, event.type === 'callFinished' ? event.usage : undefined);
    // It goes back to the queue.
    else Object.assign(seen, { engine: undefined, dispatchedMs: NaN });
  }

  #end(call: CallId, endedMs: number, usage?: Usage): void {
    const seen = this.#open.get(call);
    this.#open.delete(call);
    if (seen === undefined) return;
    [seen.endedMs, seen.usage] = [endedMs, usage];
    this.#ended.push(seen);
    if (this.#ended.length >= this.limits.callsMax + DROPPED) this.#drop(DROPPED);
  }

  #drop(calls: number): void {
    this.sinceMs = this.#ended.splice(0, calls).at(-1)?.endedMs ?? this.sinceMs;
  }

  #fleet(event: Extract<Event, { engine: EngineId }>, now: number): void {
    if (event.type === 'engineJoined') {
      const known = this.#engines.get(event.engine);
      this.#engines.set(event.engine, event);
      if (known === undefined || factsOf(known) !== factsOf(event)) this.restart(now);
    } else if (event.type !== 'engineReported' && this.#engines.delete(event.engine)) this.restart(now);
  }
}

const factsOf = ({ models, windowMax, capacityTokens, contextTokensMax }: EngineJoined): string =>
  JSON.stringify([models, windowMax, capacityTokens, contextTokensMax]);
