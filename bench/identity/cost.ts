import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { tenantId } from '../../src/index.js';
import { apiFor, type JsonObject } from '../../sidecar/apis/index.js';
import { Identifier } from '../../sidecar/identity/index.js';
import { show } from '../numbers.js';

const TENANT = tenantId('t');
const CALLS = 40_000;

/** Cost of identifying and remembering a call without an id: CPU microseconds, and bytes kept of its answer. */
export function costOfAnswer(message: (call: number) => JsonObject): string[] {
  let ids = 0;
  const identifier = new Identifier({
    sources: ['history'],
    conversationsMax: 2 * CALLS,
    responsesMax: 1,
    rewritten: true,
    reuseMs: 0,
    activityOf: () => undefined,
    newId: () => String(++ids),
  });
  const api = apiFor('/v1/chat/completions');
  if (api === undefined) throw new Error('no API speaks chat');
  const bytes = heapBytes();
  const startedAt = process.cpuUsage().user;
  for (let call = 0; call < CALLS; call += 1) {
    const messages = [{ role: 'user', content: `Task ${call} is to look at the file and say what it does.` }];
    const body = { model: 'm', messages };
    const request = { tenant: TENANT, headers: {}, body, facts: api.readRequest(body) };
    identifier.answered(
      identifier.identify(request),
      request,
      api.readAnswer({ choices: [{ message: message(call) }] }),
    );
  }
  const micros = (process.cpuUsage().user - startedAt) / CALLS;
  const kept = (heapBytes() - bytes) / CALLS;
  // Keeps the identifier alive; otherwise its memory would be collected.
  identifier.named(TENANT, 'x');
  return [show(micros), show(kept)];
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
