import type { EngineList, IdentitySources, Queue } from '../../sidecar/admin/answers.js';
import { counted } from '../../text/index.js';
import { AdminError, type AdminClient } from '../admin.js';
import { OWN_NAME } from '../advice.js';
import { DEAD_ENGINE, SET_CAPACITY, type Finding } from './finding.js';

/** Calls from which a share says something. */
const CALLS_MIN = 20;
const ENGINES_SHOWN = 8;
/** Share of calls whose program nothing named, from which programs are probably not recognised. */
const UNNAMED_SHARE = 0.8;

/** @param told what is known already, such as an engine that does not answer */
export async function gatewayFindings(client: AdminClient, told: readonly Finding[]): Promise<Finding[]> {
  const subject = 'gateway';
  try {
    const ask = async <T>(path: string) => (await client.json(path)) as T;
    const { engines } = await ask<EngineList>('/engines');
    const [identified, queue] = [await ask<IdentitySources>('/identity'), await ask<Queue>('/queue')];
    return [
      { level: 'ok', subject, found: `${client.url} answers` },
      ...engineStates(engines, new Set(told.filter(({ level }) => level === 'broken').map(({ subject }) => subject))),
      ...identityFindings(identified),
      queueFinding(queue),
    ];
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const advice = error.status === undefined ? `start it (${OWN_NAME} serve --config FILE), or correct --url` : undefined; // prettier-ignore
    return [{ level: 'broken', subject, found: error.message, ...(advice && { advice }) }];
  }
}

function engineStates(engines: EngineList['engines'], told: ReadonlySet<string>): Finding[] {
  const serving = engines.filter(({ state }) => state === 'up' || state === 'probation');
  const named = serving.slice(0, ENGINES_SHOWN).map(({ id }) => id).join(', '); // prettier-ignore
  const more = serving.length > ENGINES_SHOWN ? ' …' : '';
  const isOut = engines.every(({ state }) => state === 'draining' || state === 'drained');
  const findings: Finding[] = [
    isOut
      ? { level: 'broken', subject: 'gateway', found: engines.length === 0 ? 'it has no engine' : 'all of its engines drain', advice: `${OWN_NAME} engines ${engines.length === 0 ? 'add URL' : 'undrain ID'}` } // prettier-ignore
      : {
          // An engine that is not up has a finding of its own.
          level: serving.length === 0 ? 'note' : 'ok',
          subject: 'gateway',
          found: `${serving.length} of ${counted(engines.length, 'engine')} up${serving.length === 0 ? '' : `: ${named}${more}`}`,
        },
  ];
  for (const { id, state, capacity_tokens, down_reason } of engines) {
    const subject = `gateway’s engine ${id}`;
    if (told.has(`engine ${id}`)) continue;
    if (state === 'down')
      findings.push({ level: 'broken', subject, found: `is down: ${down_reason ?? 'no reason is known'}`, advice: `${DEAD_ENGINE}; restart it if it is stuck` }); // prettier-ignore
    else if (state !== 'up' && state !== 'probation') findings.push({ level: 'note', subject, found: `is ${state}` });
    else if (capacity_tokens === null)
      findings.push({ level: 'warning', subject, found: 'has a KV cache of unknown size, so no gate protects it', advice: SET_CAPACITY }); // prettier-ignore
  }
  return findings;
}

function identityFindings({ calls, sources }: IdentitySources): Finding[] {
  const subject = 'identity';
  if (calls === 0) return [{ level: 'note', subject, found: 'no call so far' }];
  const unnamed = sources.find(({ source }) => source === 'none')?.calls ?? 0;
  const named = sources.filter(({ source }) => source !== 'none').map(({ source, calls }) => `${source} (${calls})`);
  const how = named.length === 0 ? '' : `; the others were known by ${named.join(', ')}`;
  const found = `${unnamed} of ${counted(calls, 'recent call')} began a program of ${calls === 1 ? 'its' : 'their'} own${how}`;
  return calls >= CALLS_MIN && unnamed >= UNNAMED_SHARE * calls
    ? [{ level: 'warning', subject, found, advice: 'if agents send them, their programs are not recognised: let them send the header x-maitred-program' }] // prettier-ignore
    : [{ level: 'ok', subject, found }];
}

function queueFinding({ waiting, longest_wait_seconds, waiting_for }: Queue): Finding {
  const causes = Object.entries(waiting_for).filter(([, calls]) => calls > 0);
  const why = causes.map(([cause, calls]) => `${cause} ${calls}`).join(', ');
  if (waiting === 0) return { level: 'ok', subject: 'queue', found: 'no call waits' };
  const found = `${waiting} wait (${why}), the longest for ${Math.round(longest_wait_seconds)} s`;
  return { level: 'note', subject: 'queue', found, advice: `${OWN_NAME} why explains the longest wait` };
}
