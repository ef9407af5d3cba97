import { randomUUID } from 'node:crypto';
import { tenantId } from '../../src/index.js';
import { apiFor } from '../../sidecar/apis/index.js';
import { Identifier } from '../../sidecar/identity/index.js';
import { parseJsonBody } from '../../sidecar/http/body.js';
import { spliceFields } from '../../sidecar/http/splice.js';
import { Agent, answerOf, ID_CHARS } from '../gateway/agent.js';
import { benchReading } from './reading.js';
import { median, percentile, printTable, say, show } from '../numbers.js';

const KB = 1024;
const TENANT = tenantId('t');
const AGENTS = 32;
const SOURCES = ['maitred', 'harness', 'body', 'baggage', 'history'] as const;

/**
 * Cost of finding the program of a call that sends nothing but its messages, compared with reading these, which is
 * needed anyway.
 */
export async function benchHistory(quick: boolean): Promise<void> {
  say(`One call of ${AGENTS} agents whose bodies grow, in microseconds. parse: the body's bytes checked and parsed. read: model, limits
and size of the prompt. identify: the program found by its answers; a conversation's first call has none that is known.
splice: the priority put into the bytes that go on. remember: the answer, for the next call. In all: the median of the sums.\n`);
  // Small bodies need more rounds until V8 has compiled what they use.
  const rows = [2, 64, 512].map((kb) => rowOf(kb, (quick ? 50 : 500) * (kb === 2 ? 10 : 1)));
  printTable(
    [
      'body',
      'messages',
      'known',
      'parse',
      'read',
      'identify',
      'splice',
      'remember',
      'in all',
      'lowest tenth',
      'of parse',
    ],
    rows,
  );
  await benchReading(quick);
}

function rowOf(kb: number, rounds: number): string[] {
  const api = apiFor('/v1/chat/completions');
  if (api === undefined) throw new Error('no API speaks chat');
  const identifier = new Identifier({
    sources: SOURCES,
    conversationsMax: 100_000,
    responsesMax: 1000,
    rewritten: true,
    reuseMs: 0,
    activityOf: () => undefined,
    newId: randomUUID,
  });
  const agents = Array.from({ length: AGENTS }, (_, i) => new Agent(kb * KB, false, i / AGENTS));
  const spent: Record<'parse' | 'read' | 'identify' | 'splice' | 'remember' | 'sum', number[]> = {
    parse: [],
    read: [],
    identify: [],
    splice: [],
    remember: [],
    sum: [],
  };
  let [found, messages] = [0, 0];
  for (let round = -rounds / 5; round < rounds; round += 1) {
    const agent = agents[(round + rounds) % AGENTS] as Agent;
    const raw = agent.request();
    const id = (round + rounds).toString(16).padStart(ID_CHARS, '0');
    const message = { role: 'assistant', ...answerOf(id) };
    const answer = api.readAnswer({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    const [parse, { body }] = timed(() => parseJsonBody(raw));
    const [read, facts] = timed(() => api.readRequest(body));
    const [identify, identity] = timed(() => identifier.identify({ tenant: TENANT, headers: {}, body, facts }));
    const [splice] = timed(() => spliceFields(raw, new Set(Object.keys(body)), { priority: 0 }));
    const [remember] = timed(() => identifier.answered(identity, { tenant: TENANT }, answer));
    agent.goOn(id);
    if (round < 0) continue;
    found += Number(identity.source === 'history');
    messages += facts.conversation().length;
    const sum = parse + read + identify + splice + remember;
    for (const [name, micros] of Object.entries({ parse, read, identify, splice, remember, sum }))
      spent[name as keyof typeof spent].push(micros);
  }
  const shown = (['parse', 'read', 'identify', 'splice', 'remember', 'sum'] as const).map((name) =>
    show(median(spent[name])),
  );
  const times = (median(spent.identify) + median(spent.remember)) / median(spent.parse);
  return [
    `${kb} KB`,
    show(messages / rounds),
    `${Math.round((100 * found) / rounds)} %`,
    ...shown,
    show(percentile(spent.sum, 0.1)),
    `${times.toFixed(1)}x`,
  ];
}

/** Runs the work. Returns its microseconds and its result. */
function timed<T>(work: () => T): [number, T] {
  const startedAt = performance.now();
  const result = work();
  return [(performance.now() - startedAt) * 1000, result];
}
