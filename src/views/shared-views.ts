import type { Engine } from '../engines/engine.js';
import type { Placed } from './wait-views.js';
import { firstFitting, headroomOf, queuesOf } from '../placement/obstacle.js';
import type { Program } from '../programs/process-table.js';
import type { RootThread } from '../protocol/events.js';
import type { Millis, Tokens } from '../protocol/units.js';

/** Significant digits of a reported weight: a smaller change is no news. */
const WEIGHT_DIGITS = 3;
/** The same of sums over steps, whose variance is a difference. */
const STEPS_DIGITS = 9;

/** This gateway's part and demand of an engine: all that other gateways need to know. */
export type EngineDemand = Readonly<ReturnType<typeof demandView>>;

export function demandView(engine: Engine, placed: Placed, nowMs: number) {
  const { rules, completionIndex, queues } = placed;
  const { workingSet } = engine;
  return {
    engine: engine.id,
    /** Window of the whole engine; Infinity when the policy admits everything. */
    window: rules.policy.admits ? engine.limit.size : Infinity,
    inFlight: engine.inFlight,
    loadTokens: wholeTokens(engine.batch.ownTokens),
    /** Sum of the weights of its calls in flight, per millisecond. */
    weight: Number(engine.batch.ownWeight.toPrecision(WEIGHT_DIGITS)),
    /** Sums over the times of steps that it has measured. */
    steps: engine.stepTime.sums.map((sum) => Number(sum.toPrecision(STEPS_DIGITS))) as readonly number[],
    /** Programs that it has seen end, up to those that make its index learnt. */
    ended: completionIndex.endedHere,
    activeTokens: wholeTokens(workingSet.inUse.countedTokens),
    cachedTokens: wholeTokens(workingSet.contents.tokens),
    claimTokens: wholeTokens(workingSet.workingSetTokens - workingSet.inUse.countedTokens),
    /** Number of waiting calls that it may run, by level; those before the first that has room wait as long as that. */
    waiting: queues.size === 0 ? [] : waitingFor(engine, placed, nowMs),
  };
}

/**
 * Where tenants are told apart, levels of different tenants do not compare: all calls count as of one level. Calls that
 * wait for room in the cache take no slot from others: they count at the level of the first that has room.
 */
function waitingFor(engine: Engine, { accounts, rules }: Placed, nowMs: number): readonly number[] {
  const waiting: number[] = [];
  if (engine.state !== 'up') return waiting;
  for (const queue of queuesOf(engine)) queue.countLevels(waiting);
  // Levels without calls are holes.
  const byLevel = Array.from(waiting, (calls: number | undefined) => calls ?? 0);
  if (accounts.areApart) return [byLevel.reduce((sum, calls) => sum + calls, 0)];
  const level =
    firstFitting(engine, headroomOf(engine, rules, nowMs), accounts)?.level ?? Math.max(0, byLevel.length - 1);
  const held = byLevel.splice(0, level, ...Array<number>(level).fill(0)).reduce((sum, calls) => sum + calls, 0);
  if (held > 0) byLevel[level] = (byLevel[level] ?? 0) + held;
  return byLevel;
}

/** Claims that fade are fractions. */
const wholeTokens = (count: number): Tokens => Math.max(0, Math.round(count)) as Tokens;

/** A program, as a gateway that has run its calls hands it on. */
export type ProgramRecord = Readonly<ReturnType<typeof recordView>>;

export function recordView(row: Program) {
  const { serviceMs, callsTotal, home } = row;
  const root: RootThread = {
    calls: row.rootCallsFinished,
    firstPromptTokens: row.firstPromptTokens as Tokens,
    contextTokens: row.rootContextTokens as Tokens,
  };
  /** The context of each thread in its home's cache. */
  const contexts: Readonly<Record<string, Tokens>> = home?.workingSet.contextTokens(row) ?? {};
  return { serviceMs: serviceMs as Millis, calls: callsTotal, ...(home && { home: home.id }), contexts, root };
}
