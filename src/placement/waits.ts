import type { Call } from '../programs/call.js';
import type { Engine } from '../engines/engine.js';
import type { Headroom } from '../queues/wait-queue.js';
import { paceUntilMs } from './background.js';
import {
  closedBy,
  firstFitting,
  fitsInto,
  goesFirst,
  headroomOf,
  isOutranked,
  needTokens,
  queuesOf,
} from './obstacle.js';
import { pays } from './knee.js';
import { PASSING_MAX } from './oversized.js';
import { holds, named, openTo } from './eligible.js';
import type { Placement } from './placement.js';

/** Why a call waits, in rising order of nearness to its dispatch. Each waiting call has one cause. */
export const WAIT_CAUSES = [
  'no_engine', // no engine that may run it is up
  'retry', // engines failed it, and it pauses
  'refused', // engines refuse its program or tenant, and others go first
  'resting', // the engine said "no room" and gets no calls for a moment
  'probation', // the engine came back, and may run one call at a time, and none that failed
  'window', // as many calls are in flight as the window allows
  'kv', // the gate has too little room for its context
  'turn', // there is room, but an earlier call comes first
  'knee', // it would slow down the calls in flight by more than it gains
  'background', // the room that is left is kept for other calls
] as const;
export type WaitCause = (typeof WAIT_CAUSES)[number];

/** Why one engine, or none, does not run the call now. */
export interface Obstacle {
  readonly cause: WaitCause;
  readonly engine: Engine | undefined;
  /** In calls for `window` and `probation`, tokens for `kv`. Free is below 0 where the limit has shrunk below use. */
  readonly needs?: number;
  readonly free?: number;
  readonly limit?: number;
  /** The earlier call, with `turn`. */
  readonly behind?: Call | undefined;
  /** When the cause ends by time alone, on the driver's clock; undefined: an event must end it. */
  readonly untilMs?: number | undefined;
}

export interface Ahead {
  readonly calls: number;
  readonly oldest: Call | undefined;
}

interface Line {
  readonly calls: readonly Call[];
  readonly oldest: readonly Call[];
}

/** How far the search for the end of a knee's hold looks ahead, and how exactly. */
const HOLD_MS_MAX = 86_400_000;
const HOLD_MS_EXACT = 1;

/** Why calls wait, by placement's own conditions (`obstacle.ts`), between two steps. It costs the steps nothing. */
export class Waits {
  readonly #fronts = new Map<Engine, ReturnType<typeof frontOf>>();
  readonly #lines = new Map<Iterable<Call>, Line>();

  constructor(
    private readonly placement: Pick<Placement, 'rules' | 'accounts' | 'completionIndex' | 'engineTable'>,
    private readonly nowMs: number,
  ) {}

  /** The nearest obstacle: the one after which the call would run soonest, on any engine that may run it. */
  nearest(call: Call): Obstacle {
    return this.at(call).reduce((a, b) => (isNearer(b, a) ? b : a));
  }

  /** The obstacle at each engine that may run the call; a single one without an engine if none may. */
  at(call: Call): readonly Obstacle[] {
    const { live } = this.placement.engineTable.pool(call.model);
    const { boundTo } = call;
    if (named(call, live).length === 0) return [{ cause: 'no_engine', engine: boundTo }];
    // Without a time to wait for, all engines are on probation, and none of them is given a call that failed.
    const held = live.filter((engine) => holds(engine, call));
    if (call.isPaused && held.length > 0) return held.map((engine) => this.#held(call, engine));
    if (call.isPaused && call.retryAtMs === -Infinity) return [{ cause: 'probation', engine: undefined }];
    if (call.isPaused) return [{ cause: 'retry', engine: undefined, untilMs: call.retryAtMs }];
    if (call.isOversized) return openTo(call, live).map((engine) => this.#passing(engine));
    if (boundTo === undefined) return live.map((engine) => this.#obstacle(call, engine, true));
    const others = call.isStealable ? live.filter((engine) => engine !== boundTo) : [];
    return [this.#obstacle(call, boundTo, true), ...others.map((engine) => this.#obstacle(call, engine, false))];
  }

  /** The waiting calls that the engine would run before this one; without an engine, those of its model. */
  ahead(call: Call, engine: Engine | undefined): Ahead {
    const { unbound, paused, oversized } = this.placement.engineTable.pool(call.model);
    if (call.isOversized) return this.#before(call, [oversized]);
    if (engine === undefined) return this.#before(call, [unbound, paused]);
    const own = queuesOf(engine);
    if (call.boundTo === undefined || call.boundTo === engine) return this.#before(call, own);
    const earlier = this.#before(
      call,
      engine.pools.map((pool) => pool.stealable),
    );
    // Calls of other engines come after its own, but before its background calls.
    const precedes = (each: Call) => !each.isBackground || this.placement.accounts.before(each, call);
    return own.map((queue) => lastOf(this.#line(queue), precedes)).reduce(both, earlier);
  }

  #held({ program }: Call, engine: Engine): Obstacle {
    return { cause: 'refused', engine, untilMs: engine.rests.untilOf(program) };
  }

  /** @param isOwn whether it waits for this engine or for none, and not for another */
  #obstacle(call: Call, engine: Engine, isOwn: boolean): Obstacle {
    const { closed, room, first } = this.#front(engine);
    const { inFlight, limitSize, rests, reservedFor } = engine;
    if (closed === 'no_engine') return { cause: closed, engine };
    if (closed === 'resting') return { cause: closed, engine, untilMs: rests.untilMs };
    if (holds(engine, call)) return this.#held(call, engine);
    if (closed !== undefined) return { cause: closed, engine, needs: 1, free: limitSize - inFlight, limit: limitSize };
    const short = this.#shortOf(call, engine, room, isOwn);
    if (short !== undefined) return short;
    const { accounts } = this.placement;
    const fit = first?.isBackground === false ? first : accounts.firstOf(first, this.#firstToSteal(engine, room));
    const next = goesFirst(reservedFor, first, accounts) ? reservedFor : fit;
    if (next !== call) return { cause: 'turn', engine, behind: next };
    if (call.isBackground) {
      const untilMs = paceUntilMs(engine, this.placement.rules);
      return { cause: 'background', engine, ...(untilMs > this.nowMs && untilMs < Infinity && { untilMs }) };
    }
    // Turns change with time, and an engine looks again at its next event.
    if (isOutranked(call, engine, accounts)) return { cause: 'turn', engine };
    if (accounts.areApart && this.#pays(call, engine, 0)) return { cause: 'turn', engine };
    return { cause: 'knee', engine, untilMs: this.#heldUntilMs(call, engine) };
  }

  #passing(engine: Engine): Obstacle {
    const { inFlight, probation, rests } = engine;
    if (!engine.isOpen(this.nowMs)) return { cause: 'resting', engine, untilMs: rests.untilMs };
    if (probation) return { cause: 'probation', engine, needs: 1, free: 1 - inFlight, limit: 1 };
    return { cause: 'window', engine, needs: 1, free: 0, limit: PASSING_MAX };
  }

  #shortOf(call: Call, engine: Engine, room: Headroom, isOwn: boolean): Obstacle | undefined {
    const { admissionClass, extraTokens, countedTokens } = call;
    const ownRoom = room[admissionClass];
    const { gate } = this.placement.rules.config.admission;
    const mayRest = admissionClass === 'new' && engine.bound.residents === 0;
    const limit = mayRest ? engine.restTokens(gate) : engine.gateTokens(gate);
    const short = (needs: number, free: number): Obstacle | undefined =>
      needs <= free
        ? undefined
        : { cause: 'kv', engine, needs, free, limit, untilMs: this.#displacesAtMs(call, engine) };
    // The trees hold the need as of the last change of its thread, and for a call of another engine its whole context.
    const recorded = isOwn ? short(extraTokens, ownRoom) : short(countedTokens, room.new);
    return short(needTokens(call, engine), ownRoom) ?? recorded;
  }

  #displacesAtMs(call: Call, engine: Engine): number | undefined {
    const { evictableAtMs } = engine;
    if (call.admissionClass !== 'aged' || this.nowMs >= evictableAtMs) return undefined;
    const { aged } = headroomOf(engine, this.placement.rules, evictableAtMs);
    return Math.max(needTokens(call, engine), call.extraTokens) <= aged ? evictableAtMs : undefined;
  }

  /** When its growing weight ends the hold, if the calls in flight stay as they are. */
  #heldUntilMs(call: Call, engine: Engine): number | undefined {
    let held = 0;
    let free = HOLD_MS_EXACT;
    for (; !this.#pays(call, engine, free); free *= 2) {
      if (free > HOLD_MS_MAX) return undefined;
      held = free;
    }
    while (free - held > HOLD_MS_EXACT) {
      const middle = (held + free) / 2;
      if (this.#pays(call, engine, middle)) free = middle;
      else held = middle;
    }
    return this.nowMs + free;
  }

  #pays(call: Call, engine: Engine, afterMs: number): boolean {
    return pays(call, engine, this.placement, this.nowMs + afterMs);
  }

  #front(engine: Engine) {
    const front = this.#fronts.get(engine) ?? frontOf(engine, this.placement, this.nowMs);
    this.#fronts.set(engine, front);
    return front;
  }

  #firstToSteal(engine: Engine, room: Headroom): Call | undefined {
    const { accounts } = this.placement;
    const fits = fitsInto(engine, room);
    return accounts.firstAmong(engine.pools.map(({ stealable }) => stealable.firstFit(room.new, accounts, fits)));
  }

  #before(call: Call, queues: readonly Iterable<Call>[]): Ahead {
    return queues
      .map((queue) => lastOf(this.#line(queue), (each) => this.placement.accounts.before(each, call)))
      .reduce(both);
  }

  #line(queue: Iterable<Call>): Line {
    const known = this.#lines.get(queue);
    if (known !== undefined) return known;
    const calls = [...queue].sort((a, b) => (this.placement.accounts.before(a, b) ? -1 : 1));
    const oldest: Call[] = [];
    for (const call of calls) oldest.push(olderOf(oldest.at(-1), call));
    const line = { calls, oldest };
    this.#lines.set(queue, line);
    return line;
  }
}

/** An engine's offer to the first call that it would run. */
function frontOf(engine: Engine, { rules, accounts }: Pick<Placement, 'rules' | 'accounts'>, nowMs: number) {
  const room = headroomOf(engine, rules, nowMs);
  return { closed: closedBy(engine, rules.policy.admits, nowMs), room, first: firstFitting(engine, room, accounts) };
}

function isNearer(a: Obstacle, b: Obstacle): boolean {
  if (a.cause !== b.cause) return WAIT_CAUSES.indexOf(a.cause) > WAIT_CAUSES.indexOf(b.cause);
  return missing(a) < missing(b);
}

const missing = ({ needs = 0, free = 0 }: Obstacle): number => needs - free;

/** The first calls of the line, as long as they precede. */
function lastOf({ calls, oldest }: Line, precedes: (call: Call) => boolean): Ahead {
  let low = 0;
  for (let high = calls.length; low < high;) {
    const middle = (low + high) >> 1;
    if (precedes(calls[middle] as Call)) low = middle + 1;
    else high = middle;
  }
  return { calls: low, oldest: oldest[low - 1] };
}

const both = (a: Ahead, b: Ahead): Ahead => ({
  calls: a.calls + b.calls,
  oldest: b.oldest === undefined ? a.oldest : olderOf(a.oldest, b.oldest),
});

const olderOf = (a: Call | undefined, b: Call): Call => (a !== undefined && a.seq < b.seq ? a : b);
