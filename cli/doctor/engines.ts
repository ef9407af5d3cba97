import { downRemedy, keyRemedy } from '../../sidecar/admin/engine-words.js';
import { hasNoEngine, labelOf, type Config, type EngineConfig, type SourceConfig } from '../../sidecar/config/index.js';
import { AT_ZERO } from '../../sidecar/discovery/discovery.js';
import { lookUp } from '../../sidecar/discovery/dns.js';
import { idOf, placeOf } from '../../sidecar/engines/address.js';
import { reasonOf } from '../../sidecar/errors.js';
import { examine, type Examination } from '../../sidecar/engines/examine.js';
import { keyFault, NotAnEngine } from '../../sidecar/engines/index.js';
import { integer } from '../../text/index.js';
import { OWN_NAME } from '../advice.js';
import { NOT_ENGINE, SET_CAPACITY, SET_MODELS, broken, note, ok, warning, when, type Finding } from './finding.js';

/** Each engine: whether it answers, what it is, and what it lacks. @param calls whether small calls may be sent */
export async function engineFindings(config: Config, calls: boolean): Promise<Finding[]> {
  if (hasNoEngine(config)) {
    const advice = `name each with --engine URL or in engines; without any, try it out: ${OWN_NAME} serve --embedded 2`;
    return [broken('engines', 'none is configured', advice)];
  }
  const sources = config.discovery.map((source) => lookedAt(source, config, calls));
  const engines = config.engines.map((engine) => judged(engine, config, calls));
  return [...twinFindings(config.engines), ...(await Promise.all([...sources, ...engines])).flat()];
}

/** Engines that are earlier ones too. */
export function twinFindings(engines: readonly Pick<EngineConfig, 'id' | 'url'>[]): Finding[] {
  const places = engines.map((engine) => (URL.canParse(engine.url) ? placeOf(engine) : engine.url));
  const twins = engines.filter((_, at) => places.indexOf(places[at] ?? '') < at);
  return twins.map(({ id, url }) =>
    warning(
      `engine ${id ?? idOf({ url })}`,
      `is another one too: ${url}`,
      'name each engine once: its window and KV cache count twice',
    ),
  );
}

/** A source of discovery, and the engines that it finds. */
async function lookedAt(source: SourceConfig, config: Config, calls: boolean): Promise<Finding[]> {
  const subject = `discovery ${labelOf(source)}`;
  const advice = 'docs/OPERATIONS.md#discovery says what each source needs';
  const look = await lookUp(source).catch((error: unknown) => error as Error);
  if (look instanceof Error) return [broken(subject, reasonOf(look), advice)];
  const { engines, absence } = look;
  if (engines.length === 0)
    return [
      source.models === undefined
        ? broken(subject, absence, advice)
        : note(subject, `${absence}: ${AT_ZERO}`, `if it should list some: ${advice}`),
    ];
  const found = await Promise.all(engines.map((engine) => judged(engine, config, calls)));
  return [ok(subject, `engines: ${engines.length}`), ...found.flat()];
}

async function judged(engine: EngineConfig, config: Config, calls: boolean): Promise<Finding[]> {
  const subject = `engine ${idOf(engine)}`;
  const { timeoutMs } = config.health;
  const { connectMs } = config.timeouts;
  const found = await examine(engine, { timeoutMs, connectMs, calls }).catch((error: unknown) => error as Error);
  if (found instanceof NotAnEngine) return [broken(subject, found.message, NOT_ENGINE)];
  if (found instanceof Error) {
    const reason = reasonOf(found);
    return [
      broken(subject, `${engine.url} is not healthy: ${reason}`, downRemedy({ down_reason: reason, was_up: false })),
    ];
  }
  const isEmpty = (found.models?.size ?? 0) === 0;
  const seen =
    engine.kind === 'auto'
      ? found
      : await examine({ ...engine, kind: 'auto' }, { timeoutMs, connectMs, calls: false }).catch(() => found);
  const [kind, own] = [found.adapter.kind, seen.adapter.kind];
  const misnamed = when(
    own !== kind && own !== 'openai',
    warning(subject, `answers as ${own}, not ${kind}`, `set engines[].kind: ${own}, or leave it out`),
  );
  // Read as another kind it seems to lack much; as openai, only what that kind never tells.
  if (misnamed.length > 0 && kind !== 'openai')
    return [...misnamed, ...(await judged({ ...engine, kind: own }, config, calls))];
  return [
    ...misnamed,
    ...when(isEmpty, broken(subject, 'it lists no model', 'list its models in engines[].models')),
    ...(isEmpty ? [] : healthFindings(subject, engine, found)),
    ...when(
      (engine.window ?? config.admission.window) === 1,
      note(
        subject,
        'runs one call at a time',
        'leave engines[].window and admission.window out, unless it can run no more',
      ),
    ),
    ...when(
      engine.serverName !== undefined && !engine.url.startsWith('https:'),
      note(
        subject,
        'is reached without TLS, so its serverName has no effect',
        'correct engines[].url, or leave it out',
      ),
    ),
    ...hostFindings(subject, engine, found),
    ...callFindings(subject, engine, found),
    ...flagFindings(subject, found),
  ];
}

/** Keys of an engine, the fields of its report that bound them, and words for these. */
const LIMITS = [
  ['capacityTokens', 'capacityTokens', (most: string) => `a KV cache of ${most} tokens`],
  ['window', 'windowMax', (most: string) => `${most} requests at once`],
  ['contextTokensMax', 'contextTokensMax', (most: string) => `${most} tokens of prompt and answer together`],
  ['hostTokens', 'hostTokens', (most: string) => `host memory for ${most} tokens`],
] as const;

/** Tokens that any KV cache holds. */
const CAPACITY_MIN = 1000;

/** The limits that are more than the engine reports; a KV cache may not be much less, nor less than a call. */
const oddLimits = (engine: EngineConfig, load: Examination['load']) =>
  LIMITS.flatMap(([key, bound, words]) => {
    const [own = NaN, most = NaN] = [engine[key], load[bound]];
    const longest = engine.contextTokensMax ?? load.contextTokensMax ?? CAPACITY_MIN;
    const isLittle = key === 'capacityTokens' && own < (load[bound] === undefined ? longest : most / 2);
    const needs = `one call may need ${integer(longest)} tokens of its KV cache`;
    const found = isLittle && load[bound] === undefined ? needs : `it reports ${words(integer(most))}`;
    return isLittle || own > most ? [{ key, own: integer(own), found }] : [];
  });

function healthFindings(subject: string, engine: EngineConfig, found: Examination): Finding[] {
  const { adapter, load, models, listed, unlisted, called } = found;
  const capacityTokens = engine.capacityTokens ?? load.capacityTokens;
  const isLacking = listed.length > 0 && called?.status === 404 && unlisted.includes(called.model);
  // One that fails a call may fail all.
  const isMute = called?.isAnswered === false && !isRefused(called);
  const served = isMute ? [] : [...(models?.keys() ?? [])].filter((name) => !unlisted.includes(name));
  const kind = engine.kind === 'auto' ? `${adapter.kind}, detected` : adapter.kind;
  const odd = oddLimits(engine, load);
  const instead = listed.length === 0 ? '' : `; it lists ${someOf(listed)}`;
  const { running, waiting = 0 } = load;
  return [
    ok(subject, served.length === 0 ? kind : `${kind}; serves ${someOf(served)}`),
    ...odd.map(({ key, own, found }) =>
      warning(subject, found, `correct engines[].${key}, ${own} now, or leave it out`),
    ),
    ...when(
      capacityTokens === undefined,
      warning(subject, 'its KV cache is of unknown size, so no gate protects it', SET_CAPACITY),
    ),
    ...when(
      capacityTokens !== undefined && !odd.some(({ key }) => key === 'capacityTokens'),
      ok(subject, `KV cache of ${integer(capacityTokens ?? 0)} tokens`),
    ),
    ...when(
      unlisted.length > 0,
      (isLacking ? broken : warning)(subject, `it does not list ${someOf(unlisted)}${instead}`, SET_MODELS),
    ),
    ...when(
      running === undefined && load.waiting === undefined,
      note(subject, 'it reports no load, so its window follows completions', 'engines[].window fixes it'),
    ),
    ...when(
      running === 0 && waiting > 0,
      warning(
        subject,
        `it runs none of its ${waiting} requests`,
        'look again: an engine that stays like this is stuck, and needs a restart',
      ),
    ),
  ];
}

function hostFindings(subject: string, engine: EngineConfig, { load, hostTier }: Examination): Finding[] {
  const tokens = engine.hostTokens ?? load.hostTokens ?? 0;
  const name = hostTier === undefined ? '' : ` (${hostTier})`;
  if (tokens > 0 && hostTier === undefined && load.hostTokens === undefined)
    return [
      note(
        subject,
        `shows no host memory for contexts, and engines[].hostTokens is ${integer(tokens)}`,
        'leave it out if there is none: the gateway counts on it',
      ),
    ];
  if (tokens > 0)
    return [ok(subject, `host memory keeps ${integer(tokens)} tokens of what leaves its KV cache${name}`)];
  const advice = 'set engines[].hostTokens: contexts that come back from there cost less, and more programs may run';
  return hostTier === undefined ? [] : [note(subject, `it has a host tier of unknown size${name}`, advice)];
}

/** Whether the call itself was at fault: another may be right. */
const isRefused = ({ status = 0 }: { readonly status: number | undefined }) => status >= 400 && status < 500;

/** A small call that failed, unless the finding of its model says so. */
function callFindings(subject: string, engine: EngineConfig, { called, unlisted, load }: Examination): Finding[] {
  if (called === undefined || called.isAnswered) return [];
  const { model, path, status } = called;
  const fault = keyFault(engine, status ?? 0);
  if (fault !== '') return [broken(subject, `refuses a call, with status ${status}${fault}`, keyRemedy(fault))];
  if (status === 404 && unlisted.includes(model)) return [];
  const how =
    status === undefined ? 'does not answer' : status === 200 ? 'answers no completion to' : `answers ${status} to`;
  // One that is busy may be late.
  const isBusy = status === undefined && (load.running ?? 0) + (load.waiting ?? 0) > 0;
  const advice = `${isRefused(called) ? 'nothing is wrong if it serves embeddings alone; otherwise ' : ''}send it one yourself: its log tells more`;
  return [
    (isRefused(called) || isBusy ? warning : broken)(subject, `${how} a small call for ${model} at ${path}`, advice),
  ];
}

export const someOf = (names: readonly string[]): string =>
  names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');

function flagFindings(subject: string, { flags, called }: Examination): Finding[] {
  const lacking = flags.filter(({ isOn }) => isOn === false);
  // A call that failed has a finding of its own.
  const isTold = called?.isAnswered === false;
  const unseen = isTold ? [] : flags.filter(({ isOn }) => isOn === undefined);
  const unknown = unseen.map(({ flag, gives }) => `${flag} (${gives})`);
  return [
    ...lacking.map(({ flag, gives }) => warning(subject, `runs without ${flag}`, `add this flag: it gives ${gives}`)),
    ...when(
      unknown.length > 0,
      note(subject, `does not report whether it runs with ${unknown.join(', ')}`, 'see its command line'),
    ),
  ];
}
