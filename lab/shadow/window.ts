import type { CallArrived, CallId, EngineJoined, LogStep, Millis, ProgramId } from '../../src/index.js';

export interface WindowLimits {
  readonly windowMs: number;
  /** Most calls to remember. */
  readonly callsMax: number;
}

/** Steps without which programs and the times of their calls can be told. */
const SKIPPED = new Set(['callProgressed', 'engineReported', 'woke']);

/** A step in the form in which it is remembered; undefined: it need not be. */
export function remembered({ now, event, commands }: LogStep): LogStep | undefined {
  const told = commands.filter(({ type }) => type !== 'wakeAt');
  if (!SKIPPED.has(event.type))
    return { now, event: event.type === 'callArrived' ? lean(event) : event, commands: told };
  return told.length === 0 ? undefined : { now, event: { type: 'woke' }, commands: told };
}

/** The fields that are read, as others may be long. */
function lean({ type, call, program, tenant, thread, model, promptTokens }: CallArrived): CallArrived {
  return { type, call, program, tenant, thread, model, promptTokens };
}

/**
 * The latest steps of a gateway's scheduler. It begins anew when an engine comes or goes, since what is measured before
 * and after cannot be compared.
 */
export class ShadowWindow {
  #steps: LogStep[] = [];
  /** Steps at the front that are too old. */
  #dropped = 0;
  #calls = 0;
  readonly #engines = new Map<string, EngineJoined>();
  /** Arrivals that are too old, of calls whose ends are not. */
  readonly #carried = new Map<CallId, LogStep>();
  /** Programs in the process table that have called; and their first calls, as far as these are in the window. */
  readonly #begun = new Set<ProgramId>();
  readonly #firsts = new Set<CallId>();
  #sinceMs: number;

  constructor(
    private readonly limits: WindowLimits,
    nowMs: number,
  ) {
    this.#sinceMs = nowMs;
  }

  /** Time of the first step that it may have. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  get engines(): readonly EngineJoined[] {
    return [...this.#engines.values()];
  }

  /** Calls that came before the window, and ended in it or not yet, come at its start. */
  get steps(): readonly LogStep[] {
    const now = this.#sinceMs as Millis;
    const carried = [...this.#carried.values()].map(({ event }) => ({ now, event, commands: [] }));
    return [...carried, ...this.#steps.slice(this.#dropped)];
  }

  /** Whether its program began with this call. */
  isFirst(call: CallId): boolean {
    return this.#firsts.has(call);
  }

  /** Forgets all steps: they have a gap, or other settings hold from now on. */
  restart(nowMs: number): void {
    this.#steps = [];
    this.#dropped = 0;
    this.#calls = 0;
    this.#carried.clear();
    this.#firsts.clear();
    this.#sinceMs = nowMs;
  }

  take(step: LogStep): void {
    const { event, now, commands } = step;
    this.#note(event, now);
    for (const command of commands) if (command.type === 'programGone') this.#begun.delete(command.program);
    this.#steps.push(step);
    if (event.type === 'callArrived') this.#calls += 1;
    this.#trim(now);
  }

  #note(event: LogStep['event'], now: number): void {
    if (event.type === 'callArrived') {
      if (!this.#begun.has(event.program)) this.#firsts.add(event.call);
      this.#begun.add(event.program);
    } else if (event.type === 'engineJoined') {
      const known = this.#engines.get(event.engine);
      this.#engines.set(event.engine, event);
      if (known === undefined || factsOf(known) !== factsOf(event)) this.restart(now);
    } else if ((event.type === 'engineLost' || event.type === 'engineDrained') && this.#engines.delete(event.engine)) {
      this.restart(now);
    }
  }

  #forget(step: LogStep): void {
    const { event } = step;
    const ended = endedCall(step);
    if (event.type === 'callArrived') {
      this.#calls -= 1;
      this.#firsts.delete(event.call);
      this.#carried.set(event.call, step);
    }
    if (ended !== undefined) this.#carried.delete(ended);
  }

  #trim(now: number): void {
    const { windowMs, callsMax } = this.limits;
    for (let first = this.#steps[this.#dropped]; first !== undefined; first = this.#steps[this.#dropped]) {
      if (first.now >= now - windowMs && this.#calls <= callsMax) break;
      this.#forget(first);
      this.#sinceMs = first.now;
      this.#dropped += 1;
    }
    if (this.#dropped * 2 < this.#steps.length) return;
    this.#steps = this.#steps.slice(this.#dropped);
    this.#dropped = 0;
  }
}

/** The call that ends by this step. */
export function endedCall({ event, commands }: LogStep): CallId | undefined {
  if (event.type === 'callFinished' || event.type === 'callCancelled') return event.call;
  if (event.type === 'callFailed' && (event.failure === 'lost' || event.failure === 'refused')) return event.call;
  return commands.find((command) => command.type === 'reject')?.call;
}

/** A model may be named with the one engine that had to run the call, after a NUL. */
export const modelOf = (model: string): string => model.split('\0', 1)[0] ?? '';

/** What an engine is, without its present state. */
function factsOf({ models, windowMax, capacityTokens, contextTokensMax }: EngineJoined): string {
  return JSON.stringify([models, windowMax, capacityTokens, contextTokensMax]);
}
