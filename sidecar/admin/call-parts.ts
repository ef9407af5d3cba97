import { WAIT_CAUSES, type WaitCause } from '../../src/index.js';
import { tenantsOf } from '../config/index.js';
import type { Parts } from '../context.js';
import { isServing } from '../engines/index.js';
import { overloadSeconds } from '../watch/overload.js';
import { ROOM_CAUSES } from '../watch/reading.js';
import type { Queue, TotalsAnswer } from './answers.js';
import { isAway } from './engine-parts.js';
import { count, counted, span } from './figures.js';
import { WAITED_FOR } from './run-words.js';
import { part, type Part, type Seen } from './status-part.js';
import { REMEDIES } from './words.js';

/** Causes of waiting when something is wrong; while all is well, calls wait for room, for calls ahead, and for engines just back. */
const TROUBLES = ['no_engine', 'retry', 'refused', 'resting'] as const;
/** No wait below this is long, however soon room is kept for a call. */
const LONG_MS_MIN = 30_000;
/** Share of the waiting calls from which they are those of one tenant. */
const MOST_SHARE = 0.8;
/** Share of the waits for room from which a cause of them is named. */
const CAUSE_SHARE = 0.1;
const MORE_ENGINES = 'more engines, or fewer calls; maitred sim tells how many engines a load needs';

/** That calls are short of engines, in short. */
export function shortagesOf(config: Parts['config'], { engines, queue, totals }: Seen): string[] {
  // From `reserveMs` on, the scheduler itself makes way for a call.
  const longMs = Math.max(LONG_MS_MIN, config.admission.reserveMs);
  const isLong = engines.some(isServing) && 1000 * queue.longest_wait_seconds > longMs;
  return [...(overloadOf(queue, totals) > 0 ? ['overload'] : []), ...(isLong ? ['long waits'] : [])];
}

/** Of an overload that goes on: readings are seconds old, and by now no call may wait. */
const overloadOf = ({ waiting, background }: Queue, totals: TotalsAnswer): number =>
  waiting > background ? overloadSeconds(totals.crowded_since) : 0;

/** Who runs, and who waits for what. */
export function callPart({ config, driver }: Parts, seen: Seen, shortages: readonly string[]): Part {
  const { engines, queue, totals } = seen;
  const troubles = TROUBLES.filter((cause) => queue.waiting_for[cause] > 0);
  const waits = troubles.length === 0 ? [] : [`waits for ${troubles.map((cause) => WAITED_FOR[cause]).join(', ')}`];
  const titles = [...shortages, ...waits];
  // The remedy of an engine that is out of service stands beside it.
  const helped = troubles.filter((cause) => cause !== 'no_engine' || !engines.some(isAway));
  const remedies = [...(shortages.length > 0 ? [MORE_ENGINES] : []), ...helped.map((cause) => REMEDIES[cause])];
  const crowded = overloadOf(queue, totals);
  const crowd =
    crowded > 0 ? ` For ${span(1000 * crowded)}, more calls have waited than run${mostOf(config, driver)}.` : '';
  const level = titles.length > 0 ? 'warn' : 'good';
  return part('calls', level, titles.join(', '), callsInWords(seen) + crowd, remedies.join('. Also: '));
}

/** The tenant of most calls that wait here; '' if they are of several, or there is only one. */
function mostOf(config: Parts['config'], { views }: Parts['driver']): string {
  const tenants = tenantsOf(config);
  const most = tenants.find((tenant) => views.waitingOf(tenant) >= MOST_SHARE * views.waiting);
  return tenants.length < 2 || most === undefined ? '' : `; most that wait are of tenant ${most}`;
}

function callsInWords({ engines, queue, waits }: Seen): string {
  const { waiting, background, longest_wait_seconds: longest } = queue;
  const running = engines.reduce((sum, engine) => sum + (engine.all_gateways ?? engine).in_flight, 0);
  const hung = engines.reduce((sum, engine) => sum + (engine.state === 'down' ? engine.in_flight : 0), 0);
  // As the page's figures and `top` count: background calls beside the others.
  const shown = background === waiting ? waiting : waiting - background;
  const does = [
    { calls: running - hung, verb: 'run', where: '' },
    { calls: hung, verb: 'hang', where: ' where the engine is down' },
    { calls: shown, verb: 'wait', where: '' },
  ].filter(({ calls }) => calls > 0);
  const each = does.map(({ calls, verb, where }, at) => {
    const what = at === 0 ? counted(calls, 'call') : count(calls);
    return `${what} ${verb}${calls === 1 ? 's' : ''}${where}`;
  });
  const told = each.join(', ');
  if (waiting === 0) return told === '' ? 'No call waits.' : `${told}, none waits.`;
  const causes = causesInWords(queue, waits);
  if (background === waiting) return `${told} in the background${causes}.`;
  const wait = `, the longest for ${span(1000 * longest)}`;
  if (background === 0) return `${told}${causes}${wait}.`;
  return `${told}${wait}, and ${count(background)} in the background${causes.startsWith(':') ? '; of all' : ', all'}${causes}.`;
}

/** Waits for room are told as one: from moment to moment, the same calls lack one kind of it or another. */
function causesInWords({ waiting_for: calls }: Queue, waits: Seen['waits']): string {
  const lately = (cause: WaitCause) => (waits.of(cause) ?? 0) + calls[cause];
  const least = CAUSE_SHARE * ROOM_CAUSES.reduce((sum, cause) => sum + lately(cause), 0);
  const rooms = ROOM_CAUSES.filter((cause) => lately(cause) >= least).map((cause) => WAITED_FOR[cause]);
  const others = WAIT_CAUSES.filter((cause) => !ROOM_CAUSES.includes(cause));
  const all = [
    { some: ROOM_CAUSES.reduce((sum, cause) => sum + calls[cause], 0), what: rooms.join(' or ') },
    ...others.map((cause) => ({ some: calls[cause], what: WAITED_FOR[cause] })),
  ].filter(({ some }) => some > 0);
  if (all.length === 1) return ` for ${all[0]?.what}`;
  const told = all.sort((a, b) => b.some - a.some).map(({ some, what }) => `${count(some)} for ${what}`);
  return `: ${told.join(', ')}`;
}

export function leftParts({ waiting, running }: TotalsAnswer['left']): Part[] {
  if (waiting + running === 0) return [];
  const text = `Clients gave up ${counted(waiting + running, 'call')} in the last 5 min`;
  const told = Object.entries({ waited: waiting, ran: running }).filter(([, calls]) => calls > 0);
  return [
    part('clients', 'good', '', `${text}: ${told.map(([did, calls]) => `${count(calls)} that ${did}`).join(', ')}.`),
  ];
}

/** A loss below this share is none to act on. */
const LOSS_MIN = 0.05;
const UNSCHEDULED =
  'compare policy.name: pass-through and admission.gate: 0 with these settings in maitred sim; independent calls and short contexts gain little from scheduling';

/** The pools in which even the upper end of the estimate is clearly slower than no scheduling, while the load may be the same. */
export function lossParts(shadow: TotalsAnswer['shadow']): Part[] {
  const [ageMs, windowMs] = [Date.now() - 1000 * (shadow?.made_at ?? 0), 1000 * (shadow?.window_seconds ?? 0)];
  if (shadow === null || ageMs > windowMs) return [];
  return shadow.pools.flatMap(({ models, gain }, _, { length }) => {
    if (gain === null || 1 / gain.ratio_high < 1 + LOSS_MIN) return [];
    const [slower, least, most] = [gain.ratio, gain.ratio_high, gain.ratio_low].map((ratio) => (1 / ratio).toFixed(2));
    const of = length > 1 ? ` of ${models.join(', ')}` : '';
    const text = `In the ${span(windowMs)} until ${span(ageMs)} ago, programs${of} ended an estimated ${slower}x slower than without scheduling (${least} to ${most}).`;
    return [part('gain', 'warn', 'slower than unscheduled', text, UNSCHEDULED)];
  });
}
