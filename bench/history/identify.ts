import { randomUUID } from 'node:crypto';
import { tenantId } from '../../src/index.js';
import { apiFor } from '../../sidecar/apis/index.js';
import { Identifier } from '../../sidecar/identity/index.js';
import { parseJsonBody } from '../../sidecar/http/body.js';
import { spliceFields } from '../../sidecar/http/splice.js';
import { Agent, answerOf, ID_CHARS } from '../gateway/agent.js';
import { median, percentile, printTable, say, show } from '../numbers.js';
import { BodyReader } from '../../sidecar/bodies/reader.js';
import { loadConfig } from '../../sidecar/config/load.js';

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

const PATH = '/v1/chat/completions';

/** Cost of reading the bodies of one agent, with and without what is known of their beginnings. */
async function benchReading(quick: boolean): Promise<void> {
  say(`\nReading bodies of an agent that grow by an answer and a tool's result, in microseconds: the shape checked, parsed, model, limits
and size read, hashed. new: without what is known of earlier ones, so above 256 KB by the thread. known: with it.\n`);
  const rows: string[][] = [];
  for (const kb of [16, 64, 256, 512]) rows.push(await readingRow(kb, quick ? 30 : 300));
  printTable(['mean body', 'new p50', 'lowest tenth', 'known p50', 'lowest tenth', 'of new'], rows);
}

async function readingRow(kb: number, rounds: number): Promise<string[]> {
  const { limits, ...config } = loadConfig({});
  const readers = [0, limits.beginningBytes].map((bytes) => new BodyReader(() => ({ ...config, limits }), bytes));
  const api = apiFor(PATH);
  if (api === undefined) throw new Error('no API speaks chat');
  const agent = new Agent(kb * KB, false, 0);
  const micros: number[][] = readers.map(() => []);
  for (let round = -rounds / 3; round < rounds; round += 1) {
    const body = agent.request();
    for (const [index, reader] of readers.entries()) {
      const bytes = Buffer.from(body);
      const startedAt = performance.now();
      const read = reader.read(TENANT, api, PATH, bytes, () => true);
      if (read instanceof Promise) await read;
      if (round >= 0) micros[index]?.push((performance.now() - startedAt) * 1000);
    }
    agent.goOn();
  }
  await Promise.all(readers.map((reader) => reader.close()));
  const [fresh = [], known = []] = micros;
  return [
    `${kb} KB`,
    ...[fresh, known].flatMap((times) => [0.5, 0.1].map((share) => show(percentile(times, share)))),
    (percentile(known, 0.1) / percentile(fresh, 0.1)).toFixed(2),
  ];
}
