import { randomUUID } from 'node:crypto';
import { tenantId } from '../../src/index.js';
import { apiFor, type JsonObject } from '../../sidecar/apis/index.js';
import { Identifier } from '../../sidecar/identity/index.js';
import { parseJsonBody } from '../../sidecar/http/body.js';
import { spliceFields } from '../../sidecar/http/splice.js';
import { chatBody } from '../gateway/bodies.js';
import { benchReading } from './reading.js';
import { median, percentile, printTable, say, show } from '../numbers.js';

const KB = 1024;
const TENANT = tenantId('t');
const SOURCES = ['maitred', 'harness', 'body', 'baggage', 'history'] as const;

/**
 * Cost of finding the program of a call that sends nothing but its messages, compared with reading these, which is
 * needed anyway.
 */
export async function benchHistory(quick: boolean): Promise<void> {
  say(`One call, in microseconds. parse: the body's bytes checked and parsed. read: model, limits and size of the prompt.
identify: every message made canonical and hashed, the program found by the answer that it was given last. splice: the
priority put into the bytes that go on. In all: the median of the sums.\n`);
  // Small bodies need more rounds until V8 has compiled what they use.
  const rows = [2, 64, 512].map((kb) => rowOf(kb, (quick ? 50 : 500) * (kb === 2 ? 10 : 1)));
  printTable(
    [
      'body',
      'messages',
      'parse',
      'read',
      'identify p50',
      'p99',
      'splice',
      'in all',
      'in all, lowest tenth',
      'of parse',
    ],
    rows,
  );
  await benchReading(quick);
}

function rowOf(kb: number, rounds: number): string[] {
  const text = chatBody(kb * KB, false);
  const raw = Buffer.from(text);
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
  const requestOf = (body: JsonObject) => ({ tenant: TENANT, headers: {}, body, facts: api.readRequest(body) });

  // The previous call: the same conversation without its last answer, which is then given.
  const whole = JSON.parse(text) as { messages: object[] } & JsonObject;
  const conversation = api.readRequest(whole).conversation();
  const last = conversation.findLastIndex((message) => message.role === 'assistant');
  const message = conversation[last]?.read();
  if (message !== undefined) {
    const before = identifier.identify(requestOf({ ...whole, messages: whole.messages.slice(0, last) }));
    identifier.answered(before, { tenant: TENANT }, { message, tools: [] });
  }

  const parse: number[] = [];
  const read: number[] = [];
  const identify: number[] = [];
  const splice: number[] = [];
  const sum: number[] = [];
  for (let round = -rounds / 5; round < rounds; round += 1) {
    const [parsing, { body }] = timed(() => parseJsonBody(raw));
    const [reading, request] = timed(() => requestOf(body));
    const [identifying, { source }] = timed(() => identifier.identify(request));
    const [splicing] = timed(() => spliceFields(raw, new Set(Object.keys(body)), { priority: 0 }));
    if (message !== undefined && source !== 'history') throw new Error(`found by ${source}`);
    if (round < 0) continue;
    parse.push(parsing);
    read.push(reading);
    identify.push(identifying);
    splice.push(splicing);
    sum.push(parsing + reading + identifying + splicing);
  }
  const p50 = percentile(identify, 0.5);
  return [
    `${kb} KB`,
    show(conversation.length),
    show(median(parse)),
    show(median(read)),
    show(p50),
    show(percentile(identify, 0.99)),
    show(median(splice)),
    show(median(sum)),
    show(percentile(sum, 0.1)),
    `${(p50 / median(parse)).toFixed(1)}x`,
  ];
}

/** Runs the work. Returns its microseconds and its result. */
function timed<T>(work: () => T): [number, T] {
  const startedAt = performance.now();
  const result = work();
  return [(performance.now() - startedAt) * 1000, result];
}
