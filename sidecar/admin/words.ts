import type { CallView, Dispatch, ForecastView, ObstacleView, ProgramView, SchedulerConfig } from '../../src/index.js';
import { labelOf } from '../identity/names.js';
import type { PastCall } from './answers.js';
import { counted, named, percent, span, tokens } from './figures.js';

/** The scheduler's views in words for operators. */

const calls = (value: number): string => counted(value, 'call');
/** Engines besides the nearest to name. */
const ENGINES_SHOWN = 8;

const REASONS: Readonly<Record<Dispatch['reason'], string>> = {
  direct: 'without waiting',
  queued: 'when its turn came',
  promoted: 'after it was moved to the front, because its program had waited too long',
  retried: 'on another attempt, after an engine failed or had no room',
};

/** Why a balancer that knows homes sends a call elsewhere. */
const SPREAD: Readonly<Record<string, string>> = {
  'program-affinity': 'because its prompt is short, and so costs little to compute on any',
};

/** Facts that the words about a call need besides its view. */
export interface Setting {
  readonly balancer: string;
  readonly now: number;
  /** That of its program. */
  readonly forecast: ForecastView | undefined;
}

/** Why the call waits, or why it runs where it runs: the answer in the first line, then a detail a line. */
export function callInWords(id: string, view: CallView, { balancer, now, forecast }: Setting): string {
  const { program, thread, level, serviceMs, waitingMs, waiting, dispatch } = view;
  const agent = thread === '' ? '' : ` (sub-agent ${named(thread)})`;
  const call = `Call ${id} of program ${named(labelOf(program))}${agent}`;
  if (waiting === undefined)
    return [`${call} runs: ${dispatchInWords(dispatch, balancer)}`, ...forecastInWords(forecast)].join('\n');
  const { nearest, engines } = waiting;
  const others = engines.filter(({ engine }) => engine !== nearest.engine);
  const [answer, ...more] = [obstacleInWords(nearest, now)].flat();
  const details = [
    ...more,
    ...elsewhereInWords(others),
    ...shareInWords(waiting),
    `It stands at level ${level} (0 goes first): its program had received ${span(serviceMs)} of engine time when it arrived.`,
    ...forecastInWords(forecast),
    ...prospects(view, now),
    `What helps: ${REMEDIES[nearest.cause]}.`,
  ];
  return [`${call} has waited ${span(waitingMs)}. ${answer} ${aheadInWords(nearest)}`, ...details].join('\n');
}

/** The policy, its order and its number of levels, and the balancer. */
interface Rules {
  readonly policy: string;
  readonly order: SchedulerConfig['policy']['order'];
  readonly levels: number;
  readonly balancer: string;
}

/** A program and its last call, which has ended; then what is foreseen. */
export function lastCallInWords(row: ProgramView, last: Dispatch | undefined, rules: Rules): string {
  const { id, activeCalls, forecast } = row;
  const now = activeCalls > 0 ? calls(activeCalls) : 'no call';
  const ran =
    last === undefined
      ? 'No engine has run a call of it yet.'
      : `Its last one to run, ${last.call}, has ended: ${dispatchInWords(last, rules.balancer)}`;
  const details = [
    ...(activeCalls > 0 ? [] : nextLevelInWords(row, rules)),
    ...onHostInWords(row),
    ...forecastInWords(forecast),
  ];
  return [`Program ${named(labelOf(id))} has ${now} active. ${ran}`, ...details].join('\n');
}

/** Nothing while all of its contexts are in the KV cache, or gone. */
function onHostInWords({ home, onHostTokens }: ProgramView): string[] {
  if (home === undefined || onHostTokens === 0) return [];
  return [
    `About ${tokens(onHostTokens)} of its contexts have left the KV cache of ${home}, and come back from its host memory.`,
  ];
}

/** Nothing where all calls share one level. */
function nextLevelInWords({ level, serviceMs, forecast }: ProgramView, { policy, order, levels }: Rules): string[] {
  if (levels === 1) return [];
  const next = `Its next call would enter level ${level} of 0 to ${levels - 1} (0 goes first)`;
  if (policy !== 'plas') return [`${next}.`];
  const foreseen = forecast?.used === true ? ' and by its forecast' : '';
  const had = `${span(serviceMs)} of engine time${foreseen}`;
  if (order === 'attained') return [`${next}, because it has received ${had}.`];
  return [
    `${next}, by what programs that have received ${had} are expected to need still.`,
    'The gateway learns that from programs that end, so the level may change while this one is idle.',
  ];
}

/** At most one sentence; none while nothing is foreseen, or no end is. */
function forecastInWords(forecast: ForecastView | undefined): string[] {
  if (forecast === undefined || !Number.isFinite(forecast.remainingMs) || forecast.remainingMs < 50) return [];
  const source = { declared: 'by what its client declared', learnt: 'by earlier programs of its agent type' }[
    forecast.source
  ];
  const used = forecast.used ? '' : ' The policy does not rank by that.';
  return [`The program is expected to need ${span(forecast.remainingMs)} more of engine time, ${source}.${used}`];
}

function dispatchInWords(dispatch: Dispatch | undefined, balancer: string): string {
  // Over-long prompts are dispatched as well, so a running call without a dispatch does not exist.
  if (dispatch === undefined) return 'it has not been dispatched.';
  const { engine, level, queueMs, reason, placement } = dispatch;
  const where = {
    home: `${engine} is its program’s home, which holds its cache, and \`${balancer}\` sends such a call home`,
    bound: `its program had no home that was up, so \`${balancer}\` chose ${engine} of the engines with room; it is the home now`,
    spread: `\`${balancer}\` chose ${engine} of all engines with room, ${SPREAD[balancer] ?? 'as it keeps no program on one engine'}`,
    spilled: `its program’s home had no room for too long, so \`${balancer}\` chose ${engine}, which is the home now`,
  }[placement];
  const waited = queueMs >= 1 ? `, ${span(queueMs)} after it was queued` : '';
  return `it was sent to ${engine} from level ${level}${waited}, ${REASONS[reason]}. The engine: ${where}.`;
}

/** How a call ended, in one line; in a second one, why it ran where it ran. */
export function pastCallInWords(
  call: Omit<PastCall, 'text'>,
  dispatch: Dispatch | undefined,
  balancer: string,
): string {
  const { attempts, inherited_seconds: inherited, queue_seconds: queued } = call;
  const details = [
    ...(queued >= 0.001 ? [`It waited ${span(1000 * queued)}.`] : []),
    ...(attempts > 1 ? [`It was sent ${attempts} times.`] : []),
    ...(inherited > 0 ? [`It took over the place of an earlier attempt, which had waited ${span(1000 * inherited)}.`] : []), // prettier-ignore
  ];
  const outcome = [endInWords(call), ...details].join(' ');
  return dispatch === undefined ? outcome : `${outcome}\nIt ran: ${dispatchInWords(dispatch, balancer)}`;
}

function endInWords(call: Omit<PastCall, 'text'>): string {
  const { outcome, code, status, duration_seconds: seconds, first_token_seconds: first } = call;
  const took = span(1000 * seconds);
  if (outcome === 'cancelled') return `Its client left after ${took}.`;
  if (outcome === 'drained') return 'It ended with the gateway.';
  const fault = `${status}${code === null ? '' : ` ${code}`}`;
  if (outcome === 'refused') return `Refused with ${fault} before it entered the queue.`;
  if (outcome !== 'completed') return `It failed with ${fault} after ${took}.`;
  const { prompt_tokens: prompt, cached_tokens: cached } = call;
  const told = prompt === null ? '' : `, prompt of ${tokens(prompt)}`;
  const hit = cached === null || !prompt ? '' : `, ${percent(cached / prompt)} of it cached`;
  return `Answered after ${took}${first === null ? '' : `, first token after ${span(1000 * first)}`}${told}${hit}.`;
}

function obstacleInWords(
  { cause, engine, needs = 0, free = 0, limit = 0, behind, untilMs }: ObstacleView,
  now: number,
): string | readonly string[] {
  const at = engine ?? 'An engine';
  const left = untilMs === undefined ? undefined : span(untilMs - now);
  switch (cause) {
    case 'no_engine':
      return 'It waits for an engine: none that may run it is up.';
    case 'retry':
      return `It pauses${left === undefined ? '' : ` for another ${left}`}, because engines failed it and no other one can take it.`;
    case 'refused':
      return `It gives way to others for ${left ?? 'a moment'}, because ${at} reported no room for its program, or for several of its tenant.`;
    case 'resting':
      return `It waits for ${at}, which reported no room and gets no calls for another ${left ?? 'moment'}.`;
    case 'probation':
      return engine === undefined
        ? 'It waits for an engine that has proved itself: those that are up are on probation, and get no call that failed before.'
        : `It waits for ${at}, which is on probation after a failure and runs one call at a time until one is answered.`;
    case 'window':
      return `It waits for the window of ${at}: ${calls(limit - free)} in flight, of ${limit} at most.`;
    case 'kv':
      return [
        `It waits for KV cache of ${at}: it needs ${tokens(needs)}, and ${free > 0 ? `${tokens(free)} are` : 'nothing is'} free.`,
        `Calls in flight and programs that are expected to return hold ${tokens(limit - free)} of a gate of ${tokens(limit)}${free < 0 ? ', which answers may outgrow' : ''}.`,
        ...(left === undefined ? [] : [`Idle contexts may make way for it in ${left}.`]),
      ];
    case 'turn':
      return behind === undefined
        ? `It waits for its turn at ${at}.`
        : `It waits for its turn: ${at} has room for it, but call ${behind.call} of program ${named(labelOf(behind.program))} is ahead and is held.`;
    case 'knee':
      return [
        `It is held: ${at} has room, but its batch is past the knee, so one more call would slow down those in flight by more than it gains.`,
        ...(left === undefined
          ? []
          : [`Its own wait ends the hold in about ${left}, if the calls in flight stay the same.`]),
      ];
    case 'background':
      return `It is a background call, and ${at} keeps the room that is left for others.${left === undefined ? '' : ` It may start in ${left} at the earliest.`}`;
  }
}

const REMEDIES: Readonly<Record<ObstacleView['cause'], string>> = {
  no_engine: 'start an engine that serves its model',
  retry: 'nothing, or a look at the request: it pauses for seconds at most',
  refused: 'a higher limit at the engine; it gives way for seconds',
  resting: 'more engines; it rests for seconds',
  probation: 'its next answer or good probe',
  window: 'more engines, or a larger engines[].window if it could take more',
  kv: 'more KV cache or engines, or a larger admission.gate',
  turn: 'the call ahead must go first',
  knee: 'more engines, or admission.batching: none',
  background: 'a quieter hour, or a larger admission.backgroundShare',
};

/** At most one sentence, on the engines other than the nearest. */
function elsewhereInWords(others: readonly ObstacleView[]): string[] {
  const shown = others.slice(0, ENGINES_SHOWN).map(inShort);
  if (others.length > shown.length) shown.push(`${others.length - shown.length} more engines have no room either`);
  return shown.length === 0 ? [] : [`No other engine can take it: ${shown.join('; ')}.`];
}

const ELSEWHERE: Readonly<Record<ObstacleView['cause'], string>> = {
  no_engine: 'is not up',
  retry: 'failed it',
  refused: 'reported no room for such calls',
  resting: 'reported no room',
  probation: 'is on probation',
  window: 'has a full window',
  kv: 'has too little KV cache',
  turn: 'has other calls before it',
  knee: 'is past its knee',
  background: 'keeps its room for others',
};

function inShort({ cause, engine, needs = 0, free = 0, limit = 0 }: ObstacleView): string {
  const room = free > 0 ? `${tokens(free)} free` : 'none free';
  const figures = { window: ` (${limit - free} of ${calls(limit)})`, kv: ` (needs ${tokens(needs)}, ${room})` };
  return `${engine} ${ELSEWHERE[cause]}${cause === 'window' || cause === 'kv' ? figures[cause] : ''}`;
}

function aheadInWords({ ahead, oldestAhead }: NonNullable<CallView['waiting']>['nearest']): string {
  if (ahead === 0 || oldestAhead === undefined) return 'No call is ahead of it.';
  const { call, program, waitingMs } = oldestAhead;
  return `${calls(ahead)} ${ahead === 1 ? 'is' : 'are'} ahead of it; the oldest, ${call} of program ${named(labelOf(program))}, has waited ${span(waitingMs)}.`;
}

/** One sentence if its tenant has had more than it is due, so that calls of others go first. */
function shareInWords({ share }: NonNullable<CallView['waiting']>): string[] {
  if (share?.dueShare === undefined || share.attainedShare <= share.dueShare) return [];
  const { tenant, attainedShare, dueShare, weight } = share;
  return [
    `Its tenant ${named(tenant)} is over its share: it has had ${percent(attainedShare)} of the engine time of the last minute and is due ${percent(dueShare)} (weight ${weight}), so calls of tenants below theirs go first.`,
  ];
}

function prospects({ promoted, overdue, waiting, mayLeave, engine }: CallView, now: number): string[] {
  const { promoteAtMs, overdueAtMs, refuseAtMs } = waiting ?? {};
  const found: string[] = [];
  if (engine !== undefined && waiting !== undefined && (waiting.engines.length > 1 || !mayLeave))
    found.push(
      mayLeave
        ? `It waited for ${engine}, which has its cache, and may now run elsewhere.`
        : `It waits for ${engine} alone.`,
    );
  if (overdue)
    found.push('It is overdue: it has waited so long that it goes first, and idle contexts are evicted for it.');
  else if (promoted) found.push('It goes ahead of others, because its program had waited too long.');
  if (promoteAtMs !== undefined)
    found.push(`In ${span(promoteAtMs - now)} at the latest it goes ahead of all programs that have waited less.`);
  if (overdueAtMs !== undefined) found.push(`In ${span(overdueAtMs - now)} idle contexts are evicted for it, too.`);
  if (refuseAtMs !== undefined) found.push(`It is refused in ${span(refuseAtMs - now)} if it still waits then.`);
  return found;
}
