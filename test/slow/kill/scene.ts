import { Ask, makeFrom, type Calls, type Make } from './calls.js';
import type { Stage } from './stage.js';

/** Where a call is when something is killed. */
export const PHASES = ['queued', 'dispatched', 'streaming', 'ending'] as const;
export type Phase = (typeof PHASES)[number];

/** Tokens of an answer that is being looked at. */
const WORDS = 8;
const LONGER = 40;
/** Calls that wait at once. */
const QUEUED = 2;

/** A call, or several, in one phase, and what keeps them there. */
export interface Scene {
  readonly asks: readonly Ask[];
  readonly subjects: Calls;
  /** Calls that keep the engines busy. */
  readonly others: Calls;
  /** The engine that has the call; where it waits in the gateway, any. */
  readonly engine: number;
}

/** Brings calls into a phase. @param make makes them, so that their client can be killed */
export async function play(stage: Stage, phase: Phase, make: Make = makeFrom(stage.pool)): Promise<Scene> {
  const { url } = stage.gateway;
  const long = phase === 'queued' ? 4 : phase === 'dispatched' ? 2 : 0;
  const others = makeFrom(stage.pool)(
    url,
    Array.from({ length: long }, () => new Ask()),
  );
  if (long > 0) {
    const isBusy: Load = ({ running, waiting }) => running === 1 && waiting === long / 2 - 1;
    await stage.until('every engine is busy', () => each(stage, isBusy));
    await stage.until('both have begun', () => others.events.filter((events) => events > 0).length === 2);
  }
  if (phase === 'ending') {
    // All but the last: `[DONE]`.
    const events = await stage.eventsOf(WORDS);
    await stage.faults({ fault: `hang-after=${events - 1}` });
    const asks = [new Ask(WORDS)];
    const subjects = make(url, asks);
    // The gateway keeps the usage, which the client did not ask for.
    await stage.until('all but the end has come', () => subjects.events[0]! >= events - 2);
    return { asks, subjects, others, engine: await holder(stage, asks) };
  }
  const asks = Array.from({ length: phase === 'queued' ? QUEUED : 1 }, () => new Ask(phase === 'streaming' ? LONGER : WORDS)); // prettier-ignore
  const subjects = make(url, asks);
  if (phase === 'queued') {
    await stage.until('the calls wait', async () => (await stage.held()).queued === QUEUED);
    return { asks, subjects, others, engine: 0 };
  }
  if (phase === 'streaming') await stage.until('the stream has begun', () => subjects.events[0]! >= 3);
  else await stage.until('an engine has the call', () => any(stage, ({ waiting }) => waiting === 1));
  return { asks, subjects, others, engine: await holder(stage, asks) };
}

type Load = (stats: { readonly running: number; readonly waiting: number }) => boolean;

async function each(stage: Stage, is: Load): Promise<boolean> {
  return (await Promise.all(stage.engines.map((engine) => stage.stats(engine)))).every(is);
}

async function any(stage: Stage, is: Load): Promise<boolean> {
  return (await Promise.all(stage.engines.map((engine) => stage.stats(engine)))).some(is);
}

/** The engine that has the only call of a scene. */
async function holder(stage: Stage, [ask]: readonly Ask[]): Promise<number> {
  const stats = await Promise.all(stage.engines.map((engine) => stage.stats(engine)));
  return stats.findIndex(({ records }) => records.some(({ headers }) => headers['x-request-id'] === ask?.id));
}
