import type { ProgramId } from '../../src/index.js';
import { DEFAULT_TENANT, tenantsOf } from '../config/index.js';
import type { Parts } from '../context.js';
import { AT_ZERO } from '../discovery/discovery.js';
import { isServing } from '../engines/index.js';
import { labelOf, tenantOf } from '../identity/names.js';
import { DRAINED } from '../watch/totals.js';
import type { Batch, Engine, GatewayState, Queue, TotalsAnswer } from './answers.js';
import { batchInShort } from './batches.js';
import { awayInWords, downRemedy, engineRemedy, failingInWords, failsNow, isBroken, troubleOf } from './engine-words.js'; // prettier-ignore
import { alike, count, counted, DOWN_SHOWN, idsInWords, isRecent, latestOf, named, span } from './figures.js';
import { noneUpInWords, pastOutages, TOGETHER_SECONDS } from './outage-words.js';
import { WAITED_FOR } from './run-words.js';
import { REMEDIES } from './words.js';

/** Whether a model of the engine is served by no other. */
const isMissed = (engine: Engine, engines: readonly Engine[]): boolean => {
  const others = engines.filter((other) => other !== engine && isServing(other));
  return engine.models.some((model) => !others.some(({ models }) => models.includes(model)));
};

const LOST = ' Calls for models that no other serves wait or fail meanwhile.';

/** Causes of waiting when something is wrong; while all is well, calls wait for room, for calls ahead, and for engines just back. */
const TROUBLES = ['no_engine', 'retry', 'refused', 'resting'] as const;

interface Seen {
  readonly engines: readonly Engine[];
  readonly queue: Queue;
  readonly batches: readonly Batch[];
  readonly cluster: GatewayState['cluster'];
  readonly totals: Pick<TotalsAnswer, 'calls' | 'failed' | 'left' | 'shadow' | 'crowded_since'>;
}

type Status = GatewayState['status'];
type Part = Status['parts'][number];

/** The worst first, as all that print the parts have them. */
const LEVELS = ['bad', 'warn', 'good'] as const;

const said = (about: Part['about'], level: Part['level'], title: string, texts: readonly string[], remedy = '') =>
  texts.map((text) => ({ about, level, title: level === 'good' ? '' : title, text, ...(remedy && { remedy }) }));

/** No wait below this is long, however soon room is kept for a call. */
const LONG_MS_MIN = 30_000;
/** So long may more calls wait than run: a burst is over by then. */
const CROWDED_SECONDS = 30;
/** Share of the waiting calls from which they are those of one tenant. */
const MOST_SHARE = 0.8;
const MORE_ENGINES = 'more engines, or fewer calls; maitred sim tells how many engines a load needs';

const UNSCHEDULED =
  'compare policy.name: pass-through and admission.gate: 0 with these settings in maitred sim; independent calls and short contexts gain little from scheduling';

/** Is something wrong; who waits, and for what? The page, `top` and `why` print it. */
export function statusOf(
  { config, draining, reloadRefused, untilRestart, fleet, driver }: Parts,
  { engines, queue, batches, cluster, totals }: Seen,
): Status {
  const inState = (...states: Engine['state'][]) => engines.filter(({ state }) => states.includes(state));
  const away = inState('draining', 'drained');
  const failing = [...inState('down').filter(isBroken), ...engines.filter(isServing).filter(failsNow)];
  const down = inState('down').filter((engine) => !failing.includes(engine));
  const serving = engines.filter(isServing);
  const calm = serving.filter((engine) => !failing.includes(engine));
  const silent = calm.filter((engine) => engine.silent_seconds);
  const isServed = serving.length > 0;
  const online = queue.waiting - queue.background;
  const running = engines.reduce((sum, engine) => sum + (engine.all_gateways ?? engine).in_flight, 0);
  const hung = inState('down').reduce((sum, { in_flight: calls }) => sum + calls, 0);
  const isAtZero = engines.length === 0 && fleet.awaited.size > 0;
  const remedyOf = (engine: Engine) =>
    engineRemedy(engine, isMissed(engine, engines), idsInWords(down.filter((other) => downRemedy(other) === downRemedy(engine)))); // prettier-ignore
  // From `reserveMs` on, the scheduler itself makes way for a call.
  const isLong = isServed && 1000 * queue.longest_wait_seconds > Math.max(LONG_MS_MIN, config.admission.reserveMs);
  const crowdedSeconds = Date.now() / 1000 - (totals.crowded_since ?? Infinity);
  const isCrowded = isServed && online > running && crowdedSeconds >= CROWDED_SECONDS;
  // One that is being removed does not come back.
  const isWanted = ({ source }: Engine) => source !== null && (isCrowded || isLong);
  const crowd = isCrowded ? ` For ${span(1000 * crowdedSeconds)}, more calls have waited than run${mostOf(config, driver)}.` : ''; // prettier-ignore
  const faulty = calm.filter(({ failures, outages }) => failures !== null || outages.some(({ reason }) => reason !== DRAINED)); // prettier-ignore
  const logs = faulty.length > 0 ? `read the log of ${idsInWords(faulty)}` : '';
  const helpAt = (engine: Engine) => faulty.includes(engine) ? logs : away.includes(engine) ? `read the log of ${engine.id}` : remedyOf(engine); // prettier-ignore
  const failures = failedParts(totals, 'service', (id) => engines.filter((engine) => engine.id === id).map(helpAt)[0]);
  const troubles = TROUBLES.filter((cause) => queue.waiting_for[cause] > 0);
  const waits = [...(isCrowded ? ['overload'] : []), ...(isLong ? ['long waits'] : []), ...(troubles.length > 0 ? [`waits for ${troubles.map((cause) => WAITED_FOR[cause]).join(', ')}`] : [])]; // prettier-ignore
  const helpsCalls = [...(isCrowded || isLong ? [MORE_ENGINES] : []), ...troubles.flatMap((cause) => cause === 'no_engine' && down.length + away.length > 0 ? [] : REMEDIES[cause])]; // prettier-ignore
  const lots = alike([...away, ...down], (engine) => engines.findIndex((other) => wentTogether(engine, other)));
  const present = [
    ...said('gateway', 'warn', 'draining', draining ? ['The gateway is draining: it ends once its calls have.'] : [], 'send further calls to another gateway'),
    ...said('gateway', 'warn', 'reload refused', reloadRefused === undefined ? [] : [`The last reload was refused, so the settings before it stay: ${reloadRefused.replace(/[^.?]$/, '$&.')}`], 'correct the file, and reload it (SIGHUP)'),
    ...(engines.length === 0
      ? said('gateway', isAtZero ? 'good' : 'bad', 'no engine', [isAtZero ? `There is no engine: ${AT_ZERO}.` : 'There is no engine.'], isAtZero ? '' : 'add one: maitred engines add URL')
      : said('gateway', !isServed ? 'bad' : inState('starting').length > 0 ? 'warn' : 'good', isServed ? 'engine starting' : 'no engine', [`${countsInWords(engines)}${isServed ? '' : fateInWords(config, fleet, engines)}.`])),
    ...lots.slice(0, DOWN_SHOWN).flatMap((some) => {
      const [first] = some;
      const ids = idsInWords(some);
      const lost = some.some((engine) => isServed && isMissed(engine, engines)) ? LOST : '';
      return said('engines', first.state === 'down' || lost || !isServed ? 'bad' : some.some(isWanted) ? 'warn' : 'good', `${ids} ${first.state}`, [awayInWords(some, ids) + lost], remedyOf(first));
    }),
    ...failing.slice(0, DOWN_SHOWN).flatMap((engine) => said('engines', isBroken(engine) ? 'bad' : 'warn', `${engine.id} fails calls`, [failingInWords(engine)], remedyOf(engine))),
    ...silent.slice(0, DOWN_SHOWN).flatMap((engine) => said('engines', 'warn', `${engine.id} silent`, [`${engine.id} ${troubleOf(engine)}`], remedyOf(engine))),
    ...said('calls', waits.length > 0 ? 'warn' : 'good', waits.join(', '), [callsInWords(queue, running, hung) + crowd], helpsCalls.join('. Also: ')),
    ...said('gain', 'warn', 'slower than unscheduled', lossesIn(totals.shadow), UNSCHEDULED),
    ...said('gateway', 'warn', 'cluster incomplete', clusterInWords(cluster), 'look up in docs/CLUSTER.md#failures what goes on without it'),
    ...said('gateway', 'good', '', untilRestart.length === 0 ? [] : [`Since a reload, these keys wait for the next start: ${untilRestart.join(', ')}.`], 'restart the gateway, or take their change back'),
    ...batches.flatMap((batch) => batch.stuck ? said('gateway', 'bad', 'batch stuck', [batchInShort(batch)], 'it goes on by itself once that has ended (docs/BATCHES.md#what-survives)') : said('batches', 'good', '', [batchInShort(batch)])),
  ]; // prettier-ignore
  const past = [
    // Before the failures that came of them; beside a trouble of now, the engines' rows tell them.
    ...said('engines', failures[0]?.level ?? 'good', 'past outage', [...noneUpInWords(engines), ...(down.length + failing.length > 0 ? [] : pastOutages(calm).slice(0, DOWN_SHOWN))], logs),
    ...failures,
    ...said('clients', 'good', '', leftInWords(totals)),
    ...failedParts(totals, 'client'),
  ]; // prettier-ignore
  const parts = [present, past].flatMap((some) => LEVELS.flatMap((worst) => some.filter(({ level }) => level === worst))); // prettier-ignore
  const wrong = parts.filter(({ level }) => level !== 'good');
  const remedies = new Set(wrong.flatMap(({ remedy }) => remedy ?? []));
  return {
    level: wrong[0]?.level ?? 'good',
    title: wrong.length > 0 ? [...new Set(wrong.map(({ title }) => title))].join(', ') : online > 0 ? `${count(online)} waiting` : '', // prettier-ignore
    text: parts.map(({ text }) => text).join(' '),
    helps: remedies.size === 0 ? '' : `What helps: ${[...remedies].join('. Also: ')}.`,
    parts,
  };
}

const wentTogether = (a: Engine, b: Engine): boolean =>
  a.state === b.state && a.down_reason === b.down_reason && Math.abs((a.down_since ?? 0) - (b.down_since ?? 0)) <= TOGETHER_SECONDS; // prettier-ignore

/** `1 of 2 engines up, 1 on probation`; an engine that fails calls is none of them, whether it is down at the moment or not. */
function countsInWords(engines: readonly Engine[]): string {
  const has = (state: Engine['state']) =>
    engines.filter((engine) => engine.state === state && !isBroken(engine)).length;
  const up = has('up');
  const others = [[has('starting'), 'starting'], [has('probation'), 'on probation']] as const; // prettier-ignore
  const beside = others.map(([some, what]) => (some > 0 ? `, ${some} ${what}` : '')).join('');
  return `${up === engines.length ? '' : `${up} of `}${counted(engines.length, 'engine')} up${beside}`;
}

/** Since when no engine takes calls, and what becomes of them. */
function fateInWords({ timeouts }: Parts['config'], fleet: Parts['fleet'], engines: readonly Engine[]): string {
  const since = Math.max(...engines.map(({ down_since: at }) => at ?? Infinity));
  const isStarting = engines.some(({ state }) => state === 'starting');
  // Models of an engine that was never up are known only where the configuration names them.
  const mayWait = fleet.awaited.size > 0 || engines.some(({ state, models }) => (state === 'down' || state === 'starting') && models.length > 0); // prettier-ignore
  const fate = mayWait ? `: each call waits ${span(timeouts.noEngineMs)} for one, and then fails` : isStarting ? '' : ': new calls fail at once'; // prettier-ignore
  return (since === Infinity ? '' : ` for ${span(Date.now() - 1000 * since)}`) + fate;
}

/** The tenant of most calls that wait here; '' if they are of several, or there is only one. */
function mostOf(config: Parts['config'], { views }: Parts['driver']): string {
  const tenants = tenantsOf(config);
  const most = tenants.find((tenant) => views.waitingOf(tenant) >= MOST_SHARE * views.waiting);
  return tenants.length < 2 || most === undefined ? '' : `; most that wait are of tenant ${most}`;
}

/** Share of the calls from which failures call for a look. */
const FAILED_SHARE = 0.01;
const CODES_SHOWN = 3;

/** Codes of failures whose remedy stands beside them meanwhile, that of the engines or of the gateway that drains, and that then are over. */
const TOLD_BESIDE = ['no_engine', 'draining'];
const ERRORS_TOLD = 'look up in docs/OPERATIONS.md#errors what each code asks for';
/** Failures of engines, but for those that they word themselves, such as `engine_400`. */
const BY_ENGINES = /^engine_[a-z]/;

/** None if no call failed by that fault. @param helpsAt what helps at an engine that fails calls */
function failedParts(
  { calls, failed }: Seen['totals'],
  fault: 'client' | 'service',
  helpsAt?: (engine: string | null) => string | undefined,
): Part[] {
  const codes = failed.filter((each) => each.fault === fault);
  const failures = codes.reduce((sum, code) => sum + code.calls, 0);
  const [worst] = codes;
  const isMany = failures >= FAILED_SHARE * calls;
  if (worst === undefined) return [];
  const lastAt = Math.max(...codes.map(({ last_at: at }) => at));
  const shown = codes.slice(0, CODES_SHOWN).map((each) => `${codes.length > 1 ? `${count(each.calls)} ` : ''}with ${each.code}${byWhom(each)}`); // prettier-ignore
  const [about, whose] =
    fault === 'client' ? (['clients', ' by the client’s fault'] as const) : (['failures', ''] as const);
  const title = `${count(failures)} of ${counted(calls, 'call')} failed${whose}`;
  const remedy = TOLD_BESIDE.includes(worst.code) ? '' : BY_ENGINES.test(worst.code) ? helpsAt?.(worst.engine) : ERRORS_TOLD; // prettier-ignore
  const what = `${codes.length > 1 ? ':' : ''} ${shown.join(', ')}${codes.length > CODES_SHOWN ? ' and others' : ''}`;
  const level = fault === 'service' && isMany && isRecent(lastAt) ? 'warn' : 'good';
  return said(about, level, title, [`${title}${latestOf(what, lastAt)}.`], remedy);
}

function leftInWords({ left: { waiting, running } }: Seen['totals']): string[] {
  const all = waiting + running;
  return all === 0 ? [] : [`Clients gave up ${counted(all, 'call')} in the last 5 min: ${count(waiting)} that waited, ${count(running)} that ran.`]; // prettier-ignore
}

/** ` (the last by program "p" of tenant t on gpu-1)`, as far as it has names. */
function byWhom({ last, engine }: TotalsAnswer['failed'][number]): string {
  const [label, tenant] = [labelOf(last as ProgramId), tenantOf(last as ProgramId)];
  const program = label === '~' ? '' : ` program ${named(label)}`;
  const owner = tenant === DEFAULT_TENANT ? '' : `${program && ' of'} tenant ${tenant}`;
  const by = last === '' || program + owner === '' ? '' : ` by${program}${owner}`;
  const where = engine ? ` on ${engine}` : '';
  return by + where && ` (the last${by}${where})`;
}

/** A loss below this share is none to act on. */
const LOSS_MIN = 0.05;

/** The pools in which even the upper end of the estimate is clearly slower than no scheduling, while the load may be the same. */
function lossesIn(shadow: TotalsAnswer['shadow']): string[] {
  const [ageMs, windowMs] = [Date.now() - 1000 * (shadow?.made_at ?? 0), 1000 * (shadow?.window_seconds ?? 0)];
  return shadow === null || ageMs > windowMs ? [] : shadow.pools.flatMap(({ models, gain }, _, { length }) => {
    if (gain === null || 1 / gain.ratio_high < 1 + LOSS_MIN) return [];
    const [slower, least, most] = [gain.ratio, gain.ratio_high, gain.ratio_low].map((ratio) => (1 / ratio).toFixed(2));
    const of = length > 1 ? ` of ${models.join(', ')}` : '';
    return [`In the ${span(windowMs)} until ${span(ageMs)} ago, programs${of} ended an estimated ${slower}x slower than without scheduling (${least} to ${most}).`];
  }); // prettier-ignore
}

/** @param hung those of the running calls whose engines are down */
function callsInWords(queue: Queue, running: number, hung: number): string {
  const { waiting, background, waiting_for: calls, longest_wait_seconds: longest } = queue;
  const run = ([[running - hung, 'run', ''], [hung, 'hang', ' where the engine is down']] as const)
    .filter(([some]) => some > 0)
    .map(([some, verb, where], at) => `${at === 0 ? counted(some, 'call') : count(some)} ${verb}${some === 1 ? 's' : ''}${where}, `)
    .join(''); // prettier-ignore
  if (waiting === 0) return run === '' ? 'No call waits.' : `${run}none waits.`;
  const causes = (Object.keys(WAITED_FOR) as (keyof typeof WAITED_FOR)[])
    .filter((cause) => calls[cause] > 0)
    .sort((a, b) => calls[b] - calls[a]);
  const named = causes.map((cause) => `${causes.length > 1 ? `${count(calls[cause])} ` : ''}for ${WAITED_FOR[cause]}`);
  const why = `${named.length > 1 ? ': ' : ' '}${named.join(', ')}`;
  // As the page's figures and `top` count: background calls beside the others.
  const told = background === waiting ? waiting : waiting - background;
  const who = `${run}${run === '' ? counted(told, 'call') : count(told)} ${told === 1 ? 'waits' : 'wait'}`;
  if (background === waiting) return `${who} in the background${why}.`;
  const wait = `, the longest for ${span(1000 * longest)}`;
  if (background === 0) return `${who}${why}${wait}.`;
  return `${who}${wait}, and ${count(background)} in the background${named.length > 1 ? `; of all${why}` : `, all${why}`}.`;
}

function clusterInWords(cluster: GatewayState['cluster']): string[] {
  if (cluster === null) return [];
  const { standing, silent, other_version: strange } = cluster;
  if (standing === 'split') return ['The shared state is away: what other gateways do is missing here.'];
  return [
    ...(silent.length > 0 ? [`What ${silent.join(', ')} does is missing: no answer.`] : []),
    ...(strange.length > 0 ? [`What ${strange.join(', ')} does is missing: another version.`] : []),
  ];
}
