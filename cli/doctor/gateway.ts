import type { EngineList, GatewayState, IdentitySources, Queue } from '../../sidecar/admin/answers.js';
import { isServing } from '../../sidecar/engines/index.js';
import { counted } from '../../text/index.js';
import { AdminError, type AdminClient } from '../admin.js';
import { OWN_NAME } from '../advice.js';
import { twinFindings } from './engines.js';
import { DEAD_ENGINE, SET_CAPACITY, SET_KEY, broken, note, ok, wantsKey, warning, type Finding } from './finding.js';

/** Calls from which a share says something. */
const CALLS_MIN = 20;
const ENGINES_SHOWN = 8;
/** Share of calls whose program nothing named, from which programs are probably not recognised. */
const UNNAMED_SHARE = 0.8;

/** @param told what is known already, such as an engine that does not answer */
export async function gatewayFindings(client: AdminClient, told: readonly Finding[]): Promise<Finding[]> {
  try {
    const ask = async <T>(path: string) => (await client.json(path)) as T;
    const { engines } = await ask<EngineList>('/engines');
    const [identified, queue] = [await ask<IdentitySources>('/identity'), await ask<Queue>('/queue')];
    const { status } = await ask<GatewayState>('/gateway');
    const alone = status.parts.filter(({ about, level }) => about === 'gateway' && level !== 'good');
    const dead = new Set(told.filter(({ level }) => level === 'broken').map(({ subject }) => subject));
    return [
      ok('gateway', `${client.url} answers`),
      ...alone.map(({ level, text }) => (level === 'bad' ? broken : warning)('gateway', text)),
      upFinding(engines, status),
      ...unservedFindings(engines),
      ...twinFindings(engines),
      ...engines.filter(({ id }) => !dead.has(`engine ${id}`)).flatMap(engineFindings),
      identityFinding(identified),
      queueFinding(queue),
    ];
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const advice = error.status === undefined ? `start it (${OWN_NAME} serve --config FILE), or correct --url` : undefined; // prettier-ignore
    return [broken('gateway', error.message, advice)];
  }
}

type Row = EngineList['engines'][number];

function upFinding(engines: readonly Row[], { parts }: GatewayState['status']): Finding {
  if (engines.length === 0) {
    const { level, text = 'it has no engine' } = parts.find(({ about }) => about === 'engines') ?? {};
    return level === 'good' ? ok('gateway', text) : broken('gateway', text, `${OWN_NAME} engines add URL`);
  }
  if (engines.every(({ state }) => state === 'draining' || state === 'drained'))
    return broken('gateway', 'all of its engines drain', `${OWN_NAME} engines undrain ID`);
  const names = engines.filter(isServing).map(({ id }) => id);
  const found = `${names.length} of ${counted(engines.length, 'engine')} up`;
  // An engine that is not up has a finding of its own.
  if (names.length === 0) return note('gateway', found);
  return ok(
    'gateway',
    `${found}: ${names.slice(0, ENGINES_SHOWN).join(', ')}${names.length > ENGINES_SHOWN ? ' …' : ''}`,
  );
}

/** Models whose calls fail at once, as all their engines are taken out of service; of all models, the gateway’s own finding says so. */
function unservedFindings(engines: readonly Row[]): Finding[] {
  const away = engines.filter(({ state }) => state === 'draining' || state === 'drained');
  const served = new Set(engines.flatMap((engine) => (away.includes(engine) ? [] : engine.models)));
  const lost = away.length === engines.length ? [] : away.flatMap(({ models }) => models.filter((model) => !served.has(model))); // prettier-ignore
  return [...new Set(lost)].map((model) => {
    const ids = away.filter(({ models }) => models.includes(model)).map(({ id }) => id);
    const found = `its calls fail, as every engine that has it is out of service: ${ids.join(', ')}`;
    return broken(`gateway’s model ${model}`, found, `${OWN_NAME} engines undrain ${ids[0]}`);
  });
}

function engineFindings(engine: Row): Finding[] {
  const { id, state, capacity_tokens: capacity, down_reason: reason } = engine;
  const subject = `gateway’s engine ${id}`;
  if (state === 'down')
    return [broken(subject, `is down: ${reason ?? 'no reason is known'}`, wantsKey(reason ?? '') ? SET_KEY : `${DEAD_ENGINE}; restart it if it is stuck`)]; // prettier-ignore
  if (!isServing(engine)) return [note(subject, `is ${state}`)];
  const found = 'has a KV cache of unknown size, so no gate protects it';
  return capacity === null ? [warning(subject, found, SET_CAPACITY)] : [];
}

function identityFinding({ calls, sources }: IdentitySources): Finding {
  const subject = 'identity';
  if (calls === 0) return note(subject, 'no call so far');
  const unnamed = sources.find(({ source }) => source === 'none')?.calls ?? 0;
  const named = sources.filter(({ source }) => source !== 'none').map(({ source, calls }) => `${source} (${calls})`);
  const how = named.length === 0 ? '' : `; the others were known by ${named.join(', ')}`;
  const found = `${unnamed} of ${counted(calls, 'recent call')} began a program of ${calls === 1 ? 'its' : 'their'} own${how}`;
  if (calls < CALLS_MIN || unnamed < UNNAMED_SHARE * calls) return ok(subject, found);
  const advice = 'if agents send them, their programs are not recognised: let them send the header x-maitred-program';
  return warning(subject, found, advice);
}

function queueFinding({ waiting, longest_wait_seconds, waiting_for }: Queue): Finding {
  if (waiting === 0) return ok('queue', 'no call waits');
  const causes = Object.entries(waiting_for).filter(([, calls]) => calls > 0);
  const why = causes.map(([cause, calls]) => `${cause} ${calls}`).join(', ');
  // Nobody waits for background calls.
  const longest = longest_wait_seconds > 0 ? `, the longest for ${Math.round(longest_wait_seconds)} s` : '';
  const found = `${waiting} wait (${why})${longest}`;
  return note('queue', found, `${OWN_NAME} why explains the longest wait`);
}
