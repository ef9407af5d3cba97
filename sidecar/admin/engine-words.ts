import { keyFault } from '../engines/index.js';
import { PLAIN } from '../errors.js';
import { DRAINED } from '../watch/totals.js';
import type { Engine } from './answers.js';
import { agoOf, count, counted, idsInWords, isRecent, latestOf, span } from './figures.js';
import { outageOf } from './outage-words.js';

/** Without all that is made of it. */
type Bare = Omit<Engine, 'text' | 'failing'>;

const restartOf = (which: string): string => `restart ${which}, or read its log`;
export const logOf = (which: string): string => `read the log of ${which}`;
export const SET_KEY = 'set engines[].apiKey: env:NAME, and the variable NAME to the right key';
export const CORRECT_KEY = 'correct engines[].apiKey, or the variable that it names';

/** The remedy of an engine that wants a key, or another one; undefined: it does not. */
export const keyRemedy = (reason: string | null): string | undefined =>
  reason?.endsWith(keyFault({})) ? SET_KEY : reason?.endsWith(keyFault({ apiKey: '' })) ? CORRECT_KEY : undefined;

/** Whether one that is down was reached: it fails calls or its probes, or is stuck. */
const isReached = (reason: string | null | undefined): boolean =>
  /, where others answered$|^it is stuck|answered 5\d\d$/.test(reason ?? '');

/** Whether others answered calls that it failed: its probes are good, so it is taken down and back again and again. */
const isOutdone = ({ down_reason: reason, outages }: Pick<Engine, 'down_reason' | 'outages'>): boolean =>
  (reason ?? outages.at(-1)?.reason ?? '').endsWith(', where others answered');

/** Whether it is told as one that fails calls, whether it is down at the moment or not. */
export const isBroken = (engine: Engine): boolean => isOutdone(engine) && failsNow(engine);

/** The remedy of one that is down. @param which engines to name */
export const downRemedy = (
  { down_reason: reason, was_up: wasUp }: Pick<Engine, 'down_reason' | 'was_up'>,
  which = 'it',
): string =>
  keyRemedy(reason) ??
  (isReached(reason)
    ? restartOf(which)
    : `${reason === PLAIN['ECONNREFUSED'] ? '' : 'restart or '}start ${which}${wasUp ? '' : ', or correct the url'}`);

/** `has been down for 9 s (connection refused).`, or that it is silent. */
export function troubleOf(engine: Engine): string {
  const text = standInWords(engine);
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** @param engines that are down for one reason, drained or draining */
export function awayInWords(engines: readonly Engine[]): string {
  const ids = idsInWords(engines);
  const [first] = engines.toSorted((a, b) => (a.down_since ?? 0) - (b.down_since ?? 0)) as [Engine];
  if (engines.length === 1) return `${ids} ${troubleOf(first)}`;
  if (first.state === 'drained')
    return `${ids} have been drained for up to ${ageOf(first)}: they take no calls until they are returned to service.`;
  if (first.state === 'down') return `${ids} have been down for up to ${downFor(first)}.`;
  return `${ids} are draining: ${counted(
    engines.reduce((sum, each) => sum + each.in_flight, 0),
    'call',
  )} left, no new ones.`;
}

/** Share of an engine's attempts from which failures call for a look, and how many of them. */
const [ATTEMPTS_FAILED_SHARE, ATTEMPTS_FAILED_MIN] = [0.05, 5];

/** Whether an engine in service `fails` so many calls that it should take none, or `failed` them and answers again. One that calls could not reach, and that is back, is well. */
export function failingOf(engine: Bare): 'fails' | 'failed' | undefined {
  const { failures, outages } = engine;
  if (!failures) return undefined;
  const outage = outages.at(-1);
  const { calls, attempts, last_at: at, mended } = failures;
  const isBack = at <= (outage?.until ?? -1) && !isReached(outage?.reason);
  if (isBack || !isRecent(at)) return undefined;
  const isMany = calls >= ATTEMPTS_FAILED_MIN && calls >= ATTEMPTS_FAILED_SHARE * attempts;
  // Those of one that was taken down for them are many, whatever it answered before; twice, it may fail again.
  if (mended) return isMany || (isOutdone(engine) && downsOf(engine) > 1) ? 'failed' : undefined;
  return isMany || isOutdone(engine) ? 'fails' : undefined;
}

/** Whether an engine that is in service should take no calls. */
export const failsNow = (engine: Bare): boolean => failingOf(engine) === 'fails';

/** Share of the gate above which hardly any call finds room. */
const GATE_FULL = 0.97;

/** `40 of 60 attempts failed in the last 5 min; failures began 12 min ago; the last one 9 s ago: status 500.` */
function failuresInWords({ failures: all }: Bare): string[] {
  if (all === null) return [];
  const began = all.began_at < all.last_at ? `; failures began ${agoOf(all.began_at)}` : '';
  const failed = `${count(all.calls)} of ${counted(all.attempts, 'attempt')} failed`;
  return [
    `${failed}${latestOf(began, all.last_at)}${all.last && `: ${all.last}`}.`,
    ...(all.answered_since > 0 ? [`It has answered ${counted(all.answered_since, 'call')} since.`] : []),
  ];
}

const downsOf = ({ outages }: Bare): number => outages.filter(({ reason }) => reason !== DRAINED).length;

/** Of one that fails calls, or did, in words that stay while it is taken down and comes back. */
export const failingInWords = (engine: Engine): string =>
  [
    failuresInWords(engine).join(' '),
    ...(downsOf(engine) > 0 ? [`It was down ${counted(downsOf(engine), 'time')}.`] : []),
  ].join(' ');

/** Whether an engine takes calls now, and if not, why; then its troubles of the last minutes. */
export function engineInWords(engine: Bare): string {
  const outage = outageOf(engine.outages);
  return [standInWords(engine), ...failuresInWords(engine), ...(outage === '' ? [] : [`It ${outage}.`])].join(' ');
}

/** The remedy of engines that are out of service alike, or of one that is silent or fails calls. @param isMissed whether it is wanted back, as it alone serves a model */
export function engineRemedy(engines: readonly [Engine, ...Engine[]], isMissed = true): string {
  const [engine] = engines;
  const { id, state } = engine;
  if (state === 'draining' || state === 'drained') {
    const failing = engines.filter(failsNow);
    const undrain = engines.map((each) => `maitred engines undrain ${each.id}`).join('; ');
    return failing.length > 0 ? `${logOf(idsInWords(failing))}, and once that is mended, ${undrain}` : undrain;
  }
  if (state === 'down' && !isBroken(engine)) return downRemedy(engine, idsInWords(engines));
  const does = failingOf(engine);
  if (does === 'failed') return logOf(id);
  return does && !isMissed ? `maitred engines drain ${id}, and read its log` : restartOf(id);
}

function standInWords(engine: Bare): string {
  const { state, probe_in_seconds: probe, in_flight: inFlight } = engine;
  const next = probe === null || probe < 1 ? '' : `; probed again in ${span(1000 * Math.round(probe))}`;
  if (state === 'starting') return 'Is starting: its first probe is under way.';
  if (state === 'down')
    return `Has been down for ${downFor(engine)}${downsOf(engine) > 1 ? `; it was down ${downsOf(engine)} times in the last 5 min` : ''}${next}.`;
  if (state === 'drained')
    return `Has been drained for ${ageOf(engine)}: it takes no calls until it is returned to service.`;
  if (state === 'draining') return `Is draining: ${counted(inFlight, 'call')} left, no new ones.`;
  if (engine.silent_seconds)
    return `Has answered no call and no probe for ${span(1000 * engine.silent_seconds)}${inFlight === 0 ? '' : `; ${counted(inFlight, 'call')} ${inFlight === 1 ? 'runs' : 'run'} there`}.`;
  if (failsNow(engine)) return 'Fails calls.';
  if (engine.refused_seconds)
    return `Refuses ${engine.resting ? '' : 'some '}calls for lack of room (429, 503): they pause there for ${span(1000 * engine.refused_seconds)} more.`;
  if (engine.resting) return 'Rests for a moment: it could not be reached.';
  if (state === 'probation') return 'On probation: one call at a time.';
  if (engine.window !== null && inFlight >= engine.window)
    return inFlight > engine.window ? 'Its window has shrunk below its calls in flight.' : 'Its window is full.';
  // As the scheduler does, so that no call is too large for ever.
  if ((engine.all_gateways?.in_flight ?? inFlight) === 0) return 'Takes any call, as none runs there.';
  const { rest_tokens: rest, working_set_tokens: workingSet, idle_tokens: idle } = engine;
  if (rest !== null && workingSet >= GATE_FULL * rest) {
    const kept = idle > 0 ? `, ${count(idle)} of them idle contexts` : '';
    return `Its KV gate is full: ${count(workingSet)} of ${count(rest)} tokens${kept}.`;
  }
  // Those that wait may need more.
  return rest === null ? 'Takes calls.' : `Takes calls that need up to ${count(Math.floor(rest - workingSet))} tokens.`;
}

const ageOf = ({ down_since: since }: Pick<Engine, 'down_since'>): string =>
  span(since === null ? 0 : Date.now() - 1000 * since);
const downFor = (engine: Pick<Engine, 'down_since' | 'down_reason'>): string =>
  `${ageOf(engine)} (${engine.down_reason ?? 'unknown'})`;
