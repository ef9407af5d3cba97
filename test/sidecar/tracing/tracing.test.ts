import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  STREAM,
  USAGE_EVENT,
  chat,
  fakeEngine,
  gate,
  heldEngine,
  metrics,
  named,
  openChat,
  queueOf,
  stream,
  until,
  waiting,
  world,
  type World,
} from '../gateway/world.js';
import { plain, receiver, type Receiver, type Span } from './collector.js';

const CLIENT = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const traceparent = (flags: string) => `00-${CLIENT.trace}-${CLIENT.span}-${flags}`;
const traced = ({ url }: Receiver, more: object = {}) => ({ tracing: { otlp: { url, ...more } } });
const SECRET = 'the prompt is nobody’s business';

/** Drains the gateway, which sends the rest, and returns the spans. */
async function spansOf({ gateway }: World, collector: Receiver): Promise<Span[]> {
  await gateway.drain();
  return collector.spans();
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
    const collector = await receiver();
    const engine = await fakeEngine(stream([STREAM[0]!, STREAM[2]!, USAGE_EVENT, STREAM[3]!]));
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-key=k-123456');
    const all = await world([engine], traced(collector));
    const messages = [{ role: 'user', content: SECRET }];
    await chat(all.url, { stream: true, max_tokens: 9, messages }, { ...named('run-1'), tracestate: 'left=over' });
    await chat(all.url, { stream: true, messages }, named('run-1'));
    const spans = await spansOf(all, collector);
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
    const collector = await receiver();
    const engine = await fakeEngine();
    const all = await world([engine], traced(collector));
    await chat(all.url, {}, { ...named('run-1'), traceparent: traceparent('01'), tracestate: 'a=b' });
    const spans = await spansOf(all, collector);
    expect(spans).toHaveLength(1);
    expect(callOf(spans)).toMatchObject({ traceId: CLIENT.trace, parentSpanId: CLIENT.span });
    expect(engine.last.headers).toMatchObject({
      traceparent: `00-${CLIENT.trace}-${callOf(spans).spanId}-01`,
      tracestate: 'a=b',
    });
  });

  it('is none if the client decided so, or by the share', async () => {
    const collector = await receiver();
    const engine = await fakeEngine();
    const all = await world([engine], traced(collector, { sampleShare: 0 }));
    await chat(all.url, {}, { ...named('run-1'), traceparent: traceparent('00') });
    expect(engine.last.headers['traceparent']).toBe(traceparent('00'));
    await chat(all.url, {}, named('run-2'));
    expect(engine.last.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(await spansOf(all, collector)).toEqual([]);
  });

  it('shows a client that left', async () => {
    const collector = await receiver();
    const hold = gate();
    const engine = await fakeEngine(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(STREAM[0]);
      await hold.opened;
    });
    const all = await world([engine], traced(collector));
    const answer = await openChat(all.url, { stream: true }, named('run-1'));
    await answer.body[Symbol.asyncIterator]().next();
    answer.body.destroy();
    await until(async () => (await metrics(all.adminUrl)).get('maitred_calls_ended_total{outcome="cancelled"}') === 1);
    hold.open();
    const call = callOf(await spansOf(all, collector));
    expect(call.status.code).toBe(0);
    expect(plain(call.attributes)).toMatchObject({ 'maitred.outcome': 'cancelled', 'error.type': 'client_gone' });
    expectOrder(call);
  });

  it('shows why it was refused, and leaves no program behind', async () => {
    const collector = await receiver();
    const { engine, open } = await heldEngine(stream());
    const limits = { queuedMax: 1, programsMax: 10 };
    const all = await world([engine], {
      ...traced(collector),
      ...queueOf(60_000, { admission: { window: 1 } }),
      limits,
    });
    const running = chat(all.url, { stream: true }, named('run-1'));
    await until(() => engine.seen.length === 1);
    const queued = chat(all.url, { stream: true }, named('run-2'));
    await until(async () => (await waiting(all.adminUrl)) === 1);
    expect((await chat(all.url, {}, named('run-3'))).status).toBe(429);
    open();
    await Promise.all([running, queued]);
    const spans = await spansOf(all, collector);
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
    const collector = await receiver();
    const engine = await fakeEngine((response) => void response.writeHead(500).end('no'));
    const all = await world([engine], { ...traced(collector), limits: { attemptsMax: 2 } });
    expect((await chat(all.url, {}, named('run-1'))).status).toBe(502);
    const call = callOf(await spansOf(all, collector));
    const [dispatched, back] = ['maitred.dispatched', 'maitred.sent_back'];
    expect(call.events.map(({ name }) => name)).toEqual([dispatched, back, dispatched, back]);
    expect(call.status).toEqual({ code: 2, message: 'engine_failed' });
    expect(plain(call.attributes)).toMatchObject({ 'maitred.attempts': 2, 'maitred.outcome': 'engine_error' });
    expectOrder(call);
  });
});

describe('the program’s span', () => {
  it('ends with the program, and its id begins a new trace', async () => {
    const collector = await receiver();
    const all = await world([await fakeEngine()], traced(collector));
    await chat(all.url, {}, { ...named('run-1'), 'x-maitred-final': 'true' });
    await chat(all.url, {}, named('run-1'));
    const roots = (await spansOf(all, collector)).filter(({ name }) => name === 'program');
    expect(roots.map(({ attributes }) => plain(attributes)['maitred.cause'])).toEqual(['ended', 'shutdown']);
    expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(2);
  });
});

describe('a collector', () => {
  it.each(['gone', 'silent', 'failing'])('that is %s neither slows calls nor the end, and is reported', async (how) => {
    const collector = await receiver(how === 'silent' ? 0 : 400);
    const url = how === 'gone' ? 'http://127.0.0.1:1' : collector.url;
    vi.stubEnv('OTEL_BSP_MAX_QUEUE_SIZE', '3');
    const all = await world([await fakeEngine()], { tracing: { otlp: { url } } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => chat(all.url)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    const before = await metrics(all.adminUrl);
    expect(before.get('maitred_trace_spans_total{result="dropped"}')).toBe(3);
    const beganAt = performance.now();
    await all.gateway.close();
    expect(performance.now() - beganAt).toBeLessThan(30_000);
    expect(all.logs.filter(({ msg }) => String(msg).includes('does not take spans'))).toHaveLength(1);
  });
});
