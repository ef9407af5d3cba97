import type { EngineList, GatewayState, ProgramGroups } from '../../sidecar/admin/answers.js';
import type { Config } from '../../sidecar/config/index.js';
import { addressOf, idOf } from '../../sidecar/engines/address.js';
import { isServing } from '../../sidecar/engines/index.js';
import { counted, span } from '../../text/index.js';
import { AdminError, type AdminClient } from '../admin.js';
import { OWN_NAME } from '../advice.js';
import { someOf, twinFindings } from './engines.js';
import { SET_CAPACITY, SET_MODELS, broken, note, ok, warning, when, type Finding } from './finding.js';
import { idleFindings } from './settings.js';

/** Calls from which a share says something. */
const CALLS_MIN = 20;
/** Share of calls whose program nothing named, from which programs are probably not recognised. */
const UNNAMED_SHARE = 0.8;

/** @param told what is known already, such as an engine that does not answer @param own settings that it is to run by */
export async function gatewayFindings(client: AdminClient, told: readonly Finding[], own: Partial<Config> = {}) {
  try {
    const ask = async <T>(path: string) => (await client.json(path)) as T;
    const [{ engines }, { status }] = [await ask<EngineList>('/engines'), await ask<GatewayState>('/gateway')];
    const { groups } = await ask<ProgramGroups>('/programs?by=identified_by');
    const idle = idleFindings(await ask<Config>('/config'));
    return [
      ok('gateway', `${client.url} answers`),
      ...status.parts.map(partFinding),
      // The file may have them too.
      ...idle.filter(({ subject, found }) => !told.some((each) => each.subject === subject && each.found === found)),
      ...twinFindings(engines),
      ...strangerFindings(engines, own),
      ...engines.filter(isServing).flatMap(engineFindings),
      ...slowFindings(engines.filter(isServing)),
      identityFinding(groups),
    ];
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    return [broken('gateway', error.message)];
  }
}

type Row = EngineList['engines'][number];
type Part = GatewayState['status']['parts'][number];

/** Engines that stand in the file alone, or in the running gateway's alone. */
function strangerFindings(
  rows: readonly Row[],
  { engines = [], discovery = [], embedded = 0 }: Partial<Config>,
): Finding[] {
  if (engines.length + discovery.length + embedded === 0) return [];
  const own = engines.map((engine) => `${idOf(engine)} (${addressOf(engine).url.href})`);
  const told = rows.filter(({ id, source }) => source === 'config' && !(embedded > 0 && id.startsWith('embedded-')));
  const running = told.map(({ id, url }) => `${id} (${url})`);
  const [lost, more] = [own.filter((each) => !running.includes(each)), running.filter((each) => !own.includes(each))];
  const advice = 'reload it (SIGHUP) if it runs by this file; otherwise correct --url or --config';
  return [
    ...when(lost.length > 0, warning('gateway', `runs without engines of the file: ${someOf(lost)}`, advice)),
    ...when(more.length > 0, warning('gateway', `runs with engines that the file lacks: ${someOf(more)}`, advice)),
  ];
}

/** As the page rates it; failed calls are worth a note, however few. */
const partFinding = ({ about, level, text, remedy }: Part): Finding => {
  const good = remedy === undefined && about !== 'failures' ? ok : note;
  return { good, warn: warning, bad: broken }[level](about, text, remedy);
};

function engineFindings(engine: Row): Finding[] {
  const { id, unlisted_models: unlisted, capacity_tokens: capacity } = engine;
  const subject = `gateway’s engine ${id}`;
  return [
    ...when(unlisted.length > 0, warning(subject, `does not list ${unlisted.join(', ')}`, SET_MODELS)),
    ...when(
      capacity === null,
      warning(subject, 'has a KV cache of unknown size, so no gate protects it', SET_CAPACITY),
    ),
  ];
}

/** Times the median of its peers from which an engine is told as slow. */
const SLOW_RATIO = 3;

/** Engines whose first tokens take much longer than those of others with their models. Their prompts may be longer, too. */
export function slowFindings(engines: readonly Pick<Row, 'id' | 'models' | 'first_token_seconds'>[]): Finding[] {
  const known = engines.flatMap(({ id, models, first_token_seconds: { count, p50 } }) =>
    count < CALLS_MIN || p50 === null ? [] : [{ id, models, p50 }],
  );
  return known.flatMap(({ id, models, p50 }) => {
    const peers = known.filter((each) => each.id !== id && each.models.some((model) => models.includes(model)));
    const times = peers.map((each) => each.p50).sort((a, b) => a - b);
    const usual = times[Math.floor(times.length / 2)] ?? Infinity;
    const found = `takes ${span(1000 * p50)} to the first token in the median, others with its models ${span(1000 * usual)}`;
    const advice = `see docs/OPERATIONS.md#troubleshooting; if its prompts are no longer than theirs, ${OWN_NAME} engines drain ${id}`;
    return when(p50 > SLOW_RATIO * usual, note(`gateway’s engine ${id}`, found, advice));
  });
}

function identityFinding(sources: ProgramGroups['groups']): Finding {
  const subject = 'identity';
  const calls = sources.reduce((sum, source) => sum + source.calls, 0);
  if (calls === 0) return note(subject, 'no call was accepted so far');
  const unnamed = sources.find(({ name }) => name === 'none')?.calls ?? 0;
  const named = sources
    .filter(({ name }) => (name ?? 'none') !== 'none')
    .map(({ name, calls }) => `${name} (${calls})`);
  const how = named.length === 0 ? '' : `; the others were known by ${named.join(', ')}`;
  const found = `${unnamed} of ${counted(calls, 'recent call')} began a program of ${calls === 1 ? 'its' : 'their'} own${how}`;
  if (calls < CALLS_MIN || unnamed < UNNAMED_SHARE * calls) return ok(subject, found);
  const advice = 'if agents send them, their programs are not recognised: let them send the header x-maitred-program';
  return warning(subject, found, advice);
}
