import type { Active } from '../calls/active.js';
import type {
  CallId,
  CallView,
  EngineView,
  ForecastView,
  HolderView,
  ObstacleView,
  SchedulerConfig,
} from '../../src/index.js';
import type { ExpectedWait, ExpectedWaits } from '../watch/expected-waits.js';
import { ROOM_CAUSES } from '../watch/reading.js';
import { labelOf } from '../identity/names.js';
import { count, counted, named, percent, span } from './figures.js';
import { dispatchInWords, ended, forecastInWords, isLine, WAITED_FOR } from './run-words.js';

type Waiting = NonNullable<CallView['waiting']>;
const calls = (value: number): string => counted(value, 'call');
/** Engines besides the nearest to name, and programs that hold the room of that. */
const ENGINES_SHOWN = 8;
const HOLDERS_SHOWN = 3;

interface Trouble {
  readonly id: string;
  readonly text: string;
  readonly remedy: string;
}

export interface Setting {
  readonly policy: string;
  readonly order: SchedulerConfig['policy']['order'];
  readonly levels: number;
  readonly balancer: string;
  readonly now: number;
  readonly forecast: ForecastView | undefined;
  readonly timeouts: Readonly<Record<'idleMs' | 'firstByteMs' | 'busyMs', number>>;
  /** Of an active call. */
  readonly failures: (call: CallId) => Active['failures'];
  readonly expected: Pick<ExpectedWaits, 'of'>;
  readonly engine: (id: string) => EngineView | undefined;
  readonly holders: (id: string) => readonly HolderView[];
  /** Whether the engine itself reports calls that wait in it. */
  readonly queues: (id: string) => boolean;
  /** The trouble of an engine that is down or silent, and for how long it has been down; undefined: it is neither. */
  readonly troubleAt: (id: string) => (Trouble & { readonly downMs: number | undefined }) | undefined;
  /** Of each engine that serves a model and is not in service. */
  readonly troubles: (model: string) => readonly Trouble[];
}

/** Why the call waits, or why it runs where it runs: the answer in the first line, then a detail a line. */
export function callInWords(view: CallView, setting: Setting): string {
  const { balancer, now, forecast, troubles, timeouts } = setting;
  const { call: id, program, thread, background, waitingMs, waiting, serviceMs, startedAtMs, dispatch } = view;
  const queueMs = dispatch?.queueMs ?? 0;
  const agent = thread === '' ? '' : ` (sub-agent ${named(thread)})`;
  const call = `Call ${id} of program ${named(labelOf(program))}${agent}`;
  if (waiting === undefined) {
    const at = dispatch?.engine ?? 'no engine yet';
    const trouble = setting.troubleAt(at);
    const isDown = trouble?.downMs !== undefined;
    return [
      `${call} has run for ${span(serviceMs)} on ${at}${isDown ? ', which is down' : ''}${queueMs >= 1 ? `, after ${span(queueMs)} in the queue` : ''}.`,
      ...(startedAtMs === undefined ? [] : [`Its answer began ${span(now - startedAtMs)} ago.`]),
      ...(trouble === undefined ? [] : [`${at} ${trouble.text}`]),
      ...(!isDown
        ? []
        : [
            startedAtMs === undefined
              ? `No byte of its answer has come: it is cut in ${span(Math.max(0, timeouts.firstByteMs - serviceMs))} (timeouts.firstByteMs).`
              : `It is cut after ${span(timeouts.idleMs)} of silence (timeouts.idleMs).`,
          ]),
      ...dispatchInWords(dispatch, balancer, { isBackground: background, isTooLong: view.oversized }),
      ...forecastInWords(forecast),
      ...(!isDown
        ? []
        : [
            `What helps: ${trouble.remedy}; else its client ends the call and asks again, if another engine serves its model.`,
          ]),
    ].join('\n');
  }
  const { nearest, promoteAtMs = Infinity, overdueAtMs = Infinity } = waiting;
  const { cause, engine, untilMs = Infinity } = nearest;
  const away = troubles(view.model);
  const failures = setting.failures(id);
  // To a call that its request sends to one engine, others are no help.
  const helpers =
    view.mayLeave || view.boundBy !== 'request' ? away : away.filter(({ id: other }) => other === view.engine);
  // Nothing but the earlier of two ways to the same end.
  const seen = cause === 'kv' && overdueAtMs <= untilMs ? { ...nearest, untilMs: undefined } : nearest;
  const at = engine === undefined ? undefined : setting.engine(engine);
  const details = [
    `${obstacleInWords(view, seen, now, at)} ${aheadInWords(nearest)}`,
    ...(at !== undefined && AT_ENGINE.has(cause) ? holdersInWords(view, at, setting.holders(at.id)) : []),
    ...failedInWords(failures, now),
    ...away.map(({ id, text }) => `${id} serves ${named(view.model)} and ${text}`),
    ...elsewhereInWords(waiting, view),
    ...shareInWords(waiting),
    ...standingInWords(view, setting),
    ...expectedInWords(setting.expected.of(id, nearest, now), Math.min(promoteAtMs, overdueAtMs) - now),
    ...stayInWords(view, setting),
    ...prospects(view, (failures?.busySinceMs ?? Infinity) + timeouts.busyMs, now),
    `What helps: ${helpers.map(({ remedy }) => `${remedy}; else `).join('')}${remedyOf(view, nearest, setting)}.`,
  ];
  const where = AT_ENGINE.has(cause) && engine !== undefined ? ` of ${engine}` : '';
  const queue = background ? ', in the background' : '';
  return [`${call} has waited ${span(waitingMs)} for ${WAITED_FOR[cause]}${where}${queue}.`, ...details].join('\n');
}

/** @param frontMs until it goes ahead of others, whatever others waited */
function expectedInWords(expected: ExpectedWait | undefined, frontMs: number): string[] {
  if (expected === undefined) return [];
  const most = expected.p90Ms > frontMs ? '' : `, nine of ten within ${span(expected.p90Ms)}`;
  return [
    `Roughly, as others may pass it: of the last waits like it, half ended within ${span(expected.p50Ms)} more${most}.`,
  ];
}

/** Causes in whose words the engine has a place. */
const AT_ENGINE: ReadonlySet<ObstacleView['cause']> = new Set(['window', 'kv']);

function standingInWords(
  { background, level, promoted, overdue, serviceAtArrivalMs, waiting }: CallView,
  { policy, order, levels }: Setting,
): string[] {
  if (background)
    return waiting?.nearest.cause === 'background' ? [] : ['It is a background call: all others go before it.'];
  const at = `It stands at level ${level} (0 goes first)`;
  if (overdue)
    return [
      `${at}, and is overdue: it has waited so long that it is first in line, and idle contexts make way for it, a call at a time (admission.turnMs).`,
    ];
  if (promoted) return [`${at}, ahead of others, because its program had waited too long.`];
  if (levels === 1) return [];
  const had = `${span(serviceAtArrivalMs)} of engine time`;
  if (policy !== 'plas' || order === 'attained')
    return [`${at}: when it arrived, its program’s ended calls had taken ${had}.`];
  return [
    `${at}, by the engine time that its program is likely to need until its end; its ended calls have taken ${had}.`,
  ];
}

function obstacleInWords(
  call: CallView,
  { cause, engine, needs = 0, free = 0, limit = 0, behind, untilMs }: ObstacleView,
  now: number,
  view: EngineView | undefined,
): string {
  const at = engine ?? 'An engine';
  const left = untilMs === undefined ? undefined : span(untilMs - now);
  switch (cause) {
    case 'no_engine':
      return 'No engine that may run it is up.';
    case 'retry':
      return `It pauses${left === undefined ? '' : ` for another ${left}`}, because engines failed it and no other one can take it.`;
    case 'refused':
      return `It gives way for ${left ?? 'a moment'}, because ${at} reported no room for its program, or for several of its tenant.`;
    case 'resting':
      return `${at} gets no calls for another ${left ?? 'moment'}.`;
    case 'probation':
      return engine === undefined
        ? 'Those that are up have not proved themselves yet, and get no call that failed before.'
        : `${at} has failed, and runs one call at a time until one is answered.`;
    case 'window':
      return `${at} has ${calls(limit - free)} in flight, ${free < 0 ? `begun when its window was larger: it is ${limit} now` : `of ${limit} at most`}.`;
    case 'kv':
      return `It needs ${counted(needs, 'token')} (${partsInWords(call, needs)}), and ${free > 0 ? `${count(free)} are` : 'none is'} free: ${useInWords(limit - free, view)} of a gate of ${counted(limit, 'token')}${free < 0 ? ', which answers may outgrow' : ''}.${left === undefined ? '' : ` Idle contexts may make way for it in ${left}.`}`;
    case 'turn':
      return behind === undefined
        ? `${at} has room, and others are to go first.`
        : `${at} has room for it, but call ${behind.call} of program ${named(labelOf(behind.program))} is ahead and is held.`;
    case 'knee':
      return `${at} has room, but its batch is past the knee: one more call would slow down those in flight by more than it gains.${left === undefined ? '' : ` Its own wait ends the hold in about ${left}, if the calls in flight stay the same.`}`;
    case 'background':
      return `It is a background call, and ${at} keeps the room that is left for others; alone there, each that ends lets in two.${left === undefined ? '' : ` It may start in ${left} at the earliest.`}`;
  }
}

/** The parts of the KV cache that a call needs. */
function partsInWords({ promptTokens, reservedTokens }: CallView, needs: number): string {
  const other = Math.round(needs - promptTokens - reservedTokens);
  const rest = other > 0 ? `, growth of its context ${count(other)}` : '';
  const there = other < 0 ? `, of which ${count(-other)} are there already` : '';
  return `prompt about ${count(promptTokens)}, room for its answer ${count(reservedTokens)}${rest}${there}`;
}

/** @param held tokens of all that fills the gate */
function useInWords(held: number, view: EngineView | undefined): string {
  if (view === undefined) return `calls in flight and idle contexts hold ${count(held)}`;
  const { idleTokens, workingSetTokens, whole } = view;
  const idle = Math.min(idleTokens, Math.max(0, held - workingSetTokens + idleTokens));
  const kept = idle < 1 ? '' : `, contexts of programs that are expected to return ${count(idle)},`;
  return `${calls(whole.inFlight)} in flight hold${whole.inFlight === 1 ? 's' : ''} ${count(held - idle)}${kept}`;
}

/** One sentence: the programs that fill most of an engine, and how many of their calls came later. */
function holdersInWords({ arrivedAtMs }: CallView, at: EngineView, holders: readonly HolderView[]): string[] {
  if (holders.length === 0) return [];
  const most = holders.toSorted((a, b) => b.tokens - a.tokens).slice(0, HOLDERS_SHOWN);
  const sizeOf = ({ arrivedAtMs, tokens }: HolderView) => `${calls(arrivedAtMs.length)}, ${counted(tokens, 'token')}`;
  const told = most.map((each) => `${named(labelOf(each.program))} (${sizeOf(each)})`).join(', ');
  const later = holders.reduce((sum, each) => sum + each.arrivedAtMs.filter((ms) => ms > arrivedAtMs).length, 0);
  const own = at.whole.inFlight > at.inFlight ? ' of this gateway' : '';
  const passed = later > 0 ? ` ${calls(later)} there arrived after it.` : '';
  return [`Most tokens in flight there${own}: ${told}.${passed}`];
}

/** Causes that end for a background call once others leave room. */
const FOR_ROOM: ReadonlySet<ObstacleView['cause']> = new Set([...ROOM_CAUSES, 'background']);

export const REMEDIES: Readonly<Record<ObstacleView['cause'], string>> = {
  no_engine: 'start an engine that serves its model',
  retry: 'to wait, as such a pause takes seconds; after several failures, a look at the request',
  refused: 'a higher limit at the engine; calls give way for seconds',
  resting: 'more engines; such a rest takes seconds',
  probation: 'its next answer or good probe',
  window: 'more engines, or a larger engines[].window if it could take more',
  kv: 'more KV cache or engines, or a larger admission.gate',
  turn: 'nothing: the call ahead goes first',
  knee: 'more engines, or admission.batching: none',
  background: 'a quieter hour, or a larger admission.backgroundShare',
};

function remedyOf({ background }: CallView, { cause, engine }: Waiting['nearest'], setting: Setting): string {
  if (background && FOR_ROOM.has(cause))
    return engine !== undefined && setting.engine(engine)?.othersInFlight === 0
      ? `more engines, as ${engine} runs nothing but background calls`
      : REMEDIES.background;
  return cause === 'window' && engine !== undefined && setting.queues(engine)
    ? `more engines, as calls wait inside ${engine} already`
    : REMEDIES[cause];
}

/** At most one sentence, on the engines other than the nearest. */
function elsewhereInWords({ nearest, engines }: Waiting, { mayLeave, engine: home }: CallView): string[] {
  const others = engines.filter(({ engine }) => engine !== nearest.engine);
  const shown = others.slice(0, ENGINES_SHOWN).map(inShort);
  if (others.length > shown.length) shown.push(`${others.length - shown.length} more engines have no room either`);
  const none =
    mayLeave && home !== undefined
      ? `It need not wait for its home, ${home}, any more; the others cannot take it either`
      : 'No other engine can take it';
  return shown.length === 0 ? [] : [`${none}: ${shown.join('; ')}.`];
}

function inShort({ cause, engine, needs = 0, free = 0, limit = 0 }: ObstacleView): string {
  const room = free > 0 ? `${counted(free, 'token')} free` : 'none free';
  const window =
    free < 0 ? `${calls(limit - free)}, begun when it was above ${limit}` : `${limit - free} of ${calls(limit)}`;
  const figures = { window: `: ${window}`, kv: `: needs ${counted(needs, 'token')}, ${room}` };
  return `${engine} (${WAITED_FOR[cause]}${cause === 'window' || cause === 'kv' ? figures[cause] : ''})`;
}

function aheadInWords({ ahead, oldestAhead }: Waiting['nearest']): string {
  if (ahead === 0 || oldestAhead === undefined) return 'No call is ahead of it.';
  const { call, program, waitingMs } = oldestAhead;
  const first = `${call} of program ${named(labelOf(program))}`;
  if (ahead === 1) return `1 call is ahead of it: ${first}, which has waited ${span(waitingMs)}.`;
  return `${calls(ahead)} are ahead of it; the first to arrive, ${first}, has waited ${span(waitingMs)}.`;
}

/** One sentence if its tenant has had more than it is due, so that calls of others go first. */
function shareInWords({ share }: Waiting): string[] {
  if (share?.dueShare === undefined || share.attainedShare <= share.dueShare) return [];
  const { tenant, attainedShare, dueShare, weight } = share;
  return [
    `Its tenant ${named(tenant)} is over its share: it has had ${percent(attainedShare)} of the engine time of the last minute and is due ${percent(dueShare)} (weight ${weight}), so calls of tenants below theirs go first.`,
  ];
}

/** One sentence if it must wait for one engine. */
function stayInWords({ program, waiting, mayLeave, boundBy, engine }: CallView, { balancer, now }: Setting): string[] {
  if (engine === undefined || mayLeave) return [];
  const { leaveAtMs } = waiting ?? {};
  const until = leaveAtMs === undefined ? '' : `; in ${span(leaveAtMs - now)} others may take it`;
  const reasons = {
    failure: `which ${balancer} chose of those that have not failed it`,
    request: isLine(labelOf(program)) ? 'where its batch has sent lines that begin alike' : 'which its request needs',
    balancer: `which ${balancer} chose`,
  };
  return [`It waits for ${engine} alone, ${reasons[boundBy]}${until}.`];
}

/** At most one sentence. */
const failedInWords = (failures: Active['failures'], now: number): string[] =>
  (failures?.last ?? [])
    .slice(-1)
    .map(
      ({ engine, message, atMs }) =>
        `Its last attempt, on ${engine}, failed ${span(now - atMs)} ago: ${ended(message)}`,
    );

/** @param busyUntilMs from when on its client gets an engine's answer that there is no room */
function prospects({ program, waiting }: CallView, busyUntilMs: number, now: number): string[] {
  const { promoteAtMs = Infinity, overdueAtMs = Infinity, refuseAtMs: timedOutMs = Infinity } = waiting ?? {};
  const refuseAtMs = Math.min(timedOutMs, Math.max(now, busyUntilMs));
  const unless = refuseAtMs < timedOutMs ? 'engines have no room for it' : 'it still waits';
  return [
    ...(promoteAtMs < Math.min(overdueAtMs, refuseAtMs)
      ? [`In ${span(promoteAtMs - now)} at the latest it goes ahead of all programs that have waited less.`]
      : []),
    ...(overdueAtMs <= promoteAtMs && overdueAtMs < refuseAtMs
      ? [`In ${span(overdueAtMs - now)} it is overdue: then it is first in line, and idle contexts make way for it.`]
      : []),
    ...(refuseAtMs < Infinity
      ? [
          `It is refused in ${span(refuseAtMs - now)} if ${unless} then${isLine(labelOf(program)) ? '; its batch sends it again' : ''}.`,
        ]
      : []),
  ];
}
