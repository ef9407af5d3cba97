import type { Parts } from '../context.js';
import { AT_ZERO } from '../discovery/discovery.js';
import { isServing } from '../engines/index.js';
import type { Batch, GatewayState } from './answers.js';
import { batchInShort } from './batches.js';
import { callPart, leftParts, lossParts, shortagesOf } from './call-parts.js';
import { countsInWords, engineParts, outageParts } from './engine-parts.js';
import { failedParts } from './failed-parts.js';
import { count, span } from './figures.js';
import { part, type Part, type Seen, type Status } from './status-part.js';

/** The worst first, as all that print the parts have them. */
const LEVELS = ['bad', 'warn', 'good'] as const;
const worstFirst = (parts: readonly Part[]): Part[] =>
  LEVELS.flatMap((worst) => parts.filter(({ level }) => level === worst));

/** Is something wrong; who waits, and for what? The page, `top` and `why` print it. */
export function statusOf(context: Parts, seen: Seen): Status {
  const { engines, totals, queue } = seen;
  const shortages = shortagesOf(context.config, seen);
  const failures = failedParts(seen, 'service');
  const present = [
    ...gatewayParts(context),
    fleetPart(context, engines),
    ...engineParts(engines, shortages.length > 0),
    callPart(context, seen, shortages),
    ...lossParts(totals.shadow),
    ...clusterParts(context, seen.cluster),
    ...seen.batches.map(batchPart),
  ];
  const past = [
    // Before the failures that came of them.
    ...outageParts(engines, failures[0]?.level),
    ...failures,
    ...leftParts(totals.left),
    ...failedParts(seen, 'client'),
  ];
  const parts = [...worstFirst(present), ...worstFirst(past)];
  const wrong = parts.filter(({ level }) => level !== 'good');
  const remedies = new Set(wrong.flatMap(({ remedy }) => remedy ?? []));
  const online = queue.waiting - queue.background;
  const calm = online > 0 ? `${count(online)} waiting` : '';
  return {
    level: wrong[0]?.level ?? 'good',
    title: [...new Set(wrong.map(({ title }) => title))].join(', ') || calm,
    text: parts.map(({ text }) => text).join(' '),
    helps: remedies.size === 0 ? '' : `What helps: ${[...remedies].join('. Also: ')}.`,
    parts,
  };
}

function gatewayParts({ draining, reloadRefused, untilRestart }: Parts): Part[] {
  const parts: Part[] = [];
  if (draining) {
    const text = 'The gateway is draining: it ends once its calls have.';
    parts.push(part('gateway', 'warn', 'draining', text, 'send further calls to another gateway'));
  }
  if (reloadRefused !== undefined) {
    const text = `The last reload was refused, so the settings before it stay: ${reloadRefused.replace(/[^.?]$/, '$&.')}`;
    parts.push(part('gateway', 'warn', 'reload refused', text, 'correct the file, and reload it (SIGHUP)'));
  }
  if (untilRestart.length > 0) {
    const text = `Since a reload, these keys wait for the next start: ${untilRestart.join(', ')}.`;
    parts.push(part('gateway', 'good', '', text, 'restart the gateway, or take their change back'));
  }
  return parts;
}

/** How many engines are up; if none is, since when, and what becomes of the calls. */
function fleetPart({ config, fleet }: Parts, engines: Seen['engines']): Part {
  const mayCome = fleet.awaited.size > 0;
  if (engines.length === 0)
    return mayCome
      ? part('gateway', 'good', '', `There is no engine: ${AT_ZERO}.`)
      : part('gateway', 'bad', 'no engine', 'There is no engine.', 'add one: maitred engines add URL');
  const counts = countsInWords(engines);
  const isStarting = engines.some(({ state }) => state === 'starting');
  if (engines.some(isServing)) return part('gateway', isStarting ? 'warn' : 'good', 'engine starting', `${counts}.`);
  const since = Math.max(...engines.map(({ down_since: at }) => at ?? Infinity));
  const age = since === Infinity ? '' : ` for ${span(Date.now() - 1000 * since)}`;
  // Models of an engine that was never up are known only where the configuration names them.
  const mayReturn = engines.some(({ state, models }) => /^(?:down|starting)$/.test(state) && models.length > 0);
  const wait = `: each call waits ${span(config.timeouts.noEngineMs)} for one, and then fails`;
  const fate = mayCome || mayReturn ? wait : isStarting ? '' : ': new calls fail at once';
  return part('gateway', 'bad', 'no engine', `${counts}${age}${fate}.`);
}

function batchPart(batch: Batch): Part {
  const text = batchInShort(batch);
  return batch.stuck
    ? part(
        'gateway',
        'bad',
        'batch stuck',
        text,
        'it goes on by itself once that has ended (docs/BATCHES.md#what-survives)',
      )
    : part('batches', 'good', '', text);
}

/** For so long the shared state is away before that is told. */
const AWAY_SECONDS = 1;

function clusterParts({ config }: Parts, cluster: GatewayState['cluster']): Part[] {
  if (cluster === null) return [];
  const { standing, standing_seconds: seconds, live, silent, other_version: strange } = cluster;
  const { url, gateways } = config.cluster;
  const warn = (text: string, remedy: string) => [part('gateway', 'warn', 'cluster incomplete', text, remedy)];
  // Nobody knows then who else is live.
  if (standing !== 'shared') {
    const text = 'The shared state is away: this gateway continues alone.';
    // On a busy machine it comes back in a moment.
    return seconds < AWAY_SECONDS ? [] : warn(text, `start the server at ${url} (docs/CLUSTER.md#failures)`);
  }
  const remedy = 'look up in docs/CLUSTER.md#failures what goes on without it';
  const missing = (ids: readonly string[], why: string) =>
    ids.length === 0 ? [] : warn(`What ${ids.join(', ')} does is missing: ${why}.`, remedy);
  const more = 'start the missing gateways, or lower cluster.gateways in all others';
  return [
    ...(live < gateways ? warn(`${live} of ${gateways} gateways live.`, more) : []),
    ...missing(silent, 'no answer'),
    ...missing(strange, 'another version'),
  ];
}
