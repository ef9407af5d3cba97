import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Answer,
  begun,
  gate,
  lone,
  named,
  queueOf,
  replies,
  STREAM,
  stream,
  until,
  USAGE_EVENT,
} from '../gateway/world.js';
import { plain, receiver, type Receiver, type Span } from './collector.js';

const CLIENT = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const traceparent = (flags: string) => `00-${CLIENT.trace}-${CLIENT.span}-${flags}`;
const traced = ({ url }: Receiver, more: object = {}) => ({ tracing: { otlp: { url, ...more } } });
const SECRET = 'the prompt is nobody’s business';

/** A traced gateway before an engine. `spans` drains it, which sends the rest. */
async function tracing(answer?: Answer, overrides: object = {}, more: object = {}) {
  const collector = await receiver();
  const all = await lone(answer, { ...traced(collector, more), ...overrides });
  const spans = async (): Promise<Span[]> => {
    await all.gateway.drain();
    return collector.spans();
  };
  return { ...all, collector, spans };
}

const callOf = (spans: readonly Span[]) => spans.find(({ name }) => name !== 'program')!;
const programOf = (spans: readonly Span[]) => spans.find(({ name }) => name === 'program')!;

/** Checks that the span and its events lie in order. */
function expectOrder({ startTimeUnixNano, events, endTimeUnixNano }: Span): void {
  const times = [startTimeUnixNano, ...events.map(({ timeUnixNano }) => timeUnixNano), endTimeUnixNano].map(BigInt);
  expect(times).toEqual(times.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  expect(Math.abs(Number(times[0]! / 1_000_000n) - Date.now())).toBeLessThan(60_000);
}

afterEach(() => void vi.unstubAllEnvs());

describe('a traced call', () => {
  it('that streams is a child of its program, and the parent of the engine’s span', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-key=k-123456');
    const answer = stream([STREAM[0]!, STREAM[2]!, USAGE_EVENT, STREAM[3]!]);
    const { collector, engine, chat, ...all } = await tracing(answer);
    const messages = [{ role: 'user', content: SECRET }];
    await chat({ stream: true, max_tokens: 9, messages }, { ...named('run-1'), tracestate: 'left=over' });
    await chat({ stream: true, messages }, named('run-1'));
    const spans = await all.spans();
    const root = programOf(spans);
    const calls = spans.filter(({ name }) => name === 'chat m');
    expect(calls).toHaveLength(2);
    expect(plain(root.attributes)).toMatchObject({ 'maitred.program': 'run-1', 'maitred.calls': 2 });
    expect(root.parentSpanId).toBeUndefined();
    for (const [index, call] of calls.entries()) {
      expect(call).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId, kind: 3, status: { code: 0 } });
      expect(engine.seen[index]!.headers).toMatchObject({ traceparent: `00-${call.traceId}-${call.spanId}-01` });
      expect(engine.seen[index]!.headers['tracestate']).toBeUndefined();
      expect(call.events.map(({ name }) => name)).toEqual(['maitred.dispatched', 'maitred.first_token']);
      expectOrder(call);
      expectOrder({ ...call, startTimeUnixNano: root.startTimeUnixNano, endTimeUnixNano: root.endTimeUnixNano });
    }
    expect(plain(calls[0]!.attributes)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.request.max_tokens': 9,
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(engine.url).port),
      'maitred.engine': engine.id,
      'maitred.outcome': 'completed',
      'maitred.reason': 'direct',
      'maitred.tenant': 'default',
    });
    expect(collector.resource()).toMatchObject({ 'service.name': 'maitred' });
    expect(collector.headers[0]).toMatchObject({ 'x-key': 'k-123456' });
    expect(collector.texts.join()).not.toContain(SECRET);
  });

  it('continues its client’s trace', async () => {
    const { engine, chat, ...all } = await tracing();
    await chat({}, { ...named('run-1'), traceparent: traceparent('01'), tracestate: 'a=b' });
    const spans = await all.spans();
    expect(spans).toHaveLength(1);
    expect(callOf(spans)).toMatchObject({ traceId: CLIENT.trace, parentSpanId: CLIENT.span });
    expect(engine.last.headers).toMatchObject({
      traceparent: `00-${CLIENT.trace}-${callOf(spans).spanId}-01`,
      tracestate: 'a=b',
    });
  });

  it('is none if the client decided so, or by the share', async () => {
    const { engine, chat, spans } = await tracing(undefined, {}, { sampleShare: 0 });
    await chat({}, { ...named('run-1'), traceparent: traceparent('00') });
    expect(engine.last.headers['traceparent']).toBe(traceparent('00'));
    await chat({}, named('run-2'));
    expect(engine.last.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(await spans()).toEqual([]);
  });

  it('shows a client that left', async () => {
    const { openChat, counted, spans } = await tracing(begun());
    const answer = await openChat({ stream: true }, named('run-1'));
    await answer.body[Symbol.asyncIterator]().next();
    answer.body.destroy();
    await until(async () => (await counted('calls_ended_total{outcome="cancelled"}')) === 1);
    const call = callOf(await spans());
    expect(call.status.code).toBe(0);
    expect(plain(call.attributes)).toMatchObject({ 'maitred.outcome': 'cancelled', 'error.type': 'client_gone' });
    expectOrder(call);
  });

  it('shows why it was refused, and leaves no program behind', async () => {
    const { opened, open } = gate();
    const limits = { queuedMax: 1, programsMax: 10 };
    const held: Answer = (...asked) => opened.then(() => stream()(...asked));
    const all = await tracing(held, { ...queueOf(60_000, { admission: { window: 1 } }), limits });
    const { engine, chat } = all;
    const running = chat({ stream: true }, named('run-1'));
    await until(() => engine.seen.length === 1);
    const queued = chat({ stream: true }, named('run-2'));
    await until(async () => (await all.waiting()) === 1);
    expect((await chat({}, named('run-3'))).status).toBe(429);
    open();
    await Promise.all([running, queued]);
    const spans = await all.spans();
    const calls = spans.filter(({ name }) => name !== 'program');
    const spanOf = (name: string) => calls.find(({ attributes }) => plain(attributes)['maitred.program'] === name)!;
    expect(spanOf('run-3').status).toEqual({ code: 2, message: 'queue_full' });
    expect(plain(spanOf('run-3').attributes)).toMatchObject({
      'maitred.outcome': 'refused',
      'error.type': 'queue_full',
    });
    expect(spanOf('run-2').events.map(({ name }) => name)).toEqual([
      'maitred.queued',
      'maitred.dispatched',
      'maitred.first_token',
    ]);
    expect(calls.every(({ parentSpanId }) => spans.some(({ spanId }) => spanId === parentSpanId))).toBe(true);
    calls.forEach(expectOrder);
  });

  it('shows each attempt of one that failed', async () => {
    const { chat, spans } = await tracing(replies(500, 'no'), { limits: { attemptsMax: 2 } });
    expect((await chat({}, named('run-1'))).status).toBe(502);
    const call = callOf(await spans());
    const [dispatched, back] = ['maitred.dispatched', 'maitred.sent_back'];
    expect(call.events.map(({ name }) => name)).toEqual([dispatched, back, dispatched, back]);
    expect(call.status).toEqual({ code: 2, message: 'engine_failed' });
    expect(plain(call.attributes)).toMatchObject({ 'maitred.attempts': 2, 'maitred.outcome': 'engine_error' });
    expectOrder(call);
  });
});

describe('the program’s span', () => {
  it('ends with the program, and its id begins a new trace', async () => {
    const { chat, spans } = await tracing();
    await chat({}, { ...named('run-1'), 'x-maitred-final': 'true' });
    await chat({}, named('run-1'));
    const roots = (await spans()).filter(({ name }) => name === 'program');
    expect(roots.map(({ attributes }) => plain(attributes)['maitred.cause'])).toEqual(['ended', 'shutdown']);
    expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(2);
  });
});

describe('a collector', () => {
  it.each(['gone', 'silent', 'failing'])('that is %s neither slows calls nor the end, and is reported', async (how) => {
    const collector = await receiver(how === 'silent' ? 0 : 400);
    const url = how === 'gone' ? 'http://127.0.0.1:1' : collector.url;
    vi.stubEnv('OTEL_BSP_MAX_QUEUE_SIZE', '3');
    const all = await lone(undefined, { tracing: { otlp: { url } } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => all.chat()));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(await all.counted('trace_spans_total{result="dropped"}')).toBe(3);
    await all.gateway.close();
    expect(all.logs.filter(({ msg }) => String(msg).includes('does not take spans'))).toHaveLength(1);
  });
});
