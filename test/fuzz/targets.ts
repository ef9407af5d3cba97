import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { CoreReplay, ReplayFault } from '../../cli/core-replay.js';
import type { Api, StreamReader } from '../../sidecar/apis/api.js';
import { apiFor } from '../../sidecar/apis/index.js';
import { checkShape, skeletonOf } from '../../sidecar/bodies/skeleton.js';
import { loadConfig } from '../../sidecar/config/load.js';
import { ConfigError } from '../../sidecar/config/problems.js';
import { samplesOf } from '../../sidecar/engines/prometheus.js';
import { GatewayError } from '../../sidecar/errors.js';
import { readOpening } from '../../sidecar/bodies/family.js';
import { parseJsonBody } from '../../sidecar/http/body.js';
import { headerValue, retryAfterSeconds } from '../../sidecar/http/headers.js';
import { spliceFields } from '../../sidecar/http/splice.js';
import { SseSplitter } from '../../sidecar/http/sse.js';
import { originForm, readingsOf, splitTarget, withoutExtraSlashes } from '../../sidecar/http/target.js';
import { Identifier } from '../../sidecar/identity/index.js';
import { sampleTrace } from '../support/sample-trace.js';
import { readTrace } from '../support/traces.js';
import { FORMAT_NAMES } from '../../workloads/index.js';
import { openWorkload } from '../../cli/sim/source.js';
import { tenantId } from '../../src/index.js';
import { ANSWERS, BODIES, CONFIG, HEADERS, PROMETHEUS, PROMETHEUS_NAMES, STREAMS, WORKLOAD } from './samples.js';

/** A parser of foreign bytes. */
export interface Target {
  readonly name: string;
  readonly samples: readonly string[];
  /** Inputs of this one for each input of the fastest: files take longer. */
  readonly share: number;
  /** Ends, or throws one of the parser's own errors. `scratch` is a file that it may write. */
  readonly run: (input: Buffer, scratch: string) => void | Promise<void>;
}

const SHAPE = { bodyDepthMax: 1000, bodyNodesMax: 250_000 };

/** Whatever was thrown, it says what is wrong with the input. */
function expects(run: () => void, ...errors: readonly (new (...args: never[]) => Error)[]): void {
  try {
    run();
  } catch (error) {
    if (!errors.some((type) => error instanceof type)) throw error;
  }
}

function api(path: string): Api {
  const found = apiFor(path);
  assert.ok(found, path);
  return found;
}

let made = 0;
const identifier = new Identifier({
  sources: ['maitred', 'harness', 'body', 'baggage', 'traceparent', 'history'],
  conversationsMax: 1000,
  responsesMax: 1000,
  reuseMs: 1000,
  activityOf: () => undefined,
  newId: () => `p${++made}`,
});

/** A request body: parsed, read, identified, and changed in its bytes as in its values. */
function body(path: string, input: Buffer): void {
  expects(() => {
    checkShape(skeletonOf(input), SHAPE);
    const { raw, body } = parseJsonBody(input);
    const facts = api(path).readRequest(body);
    readOpening(facts.model, body);
    assert.ok(facts.promptBytes >= 0 && (facts.choices ?? 1) >= 1);
    const identity = identifier.identify({ tenant: tenantId('t'), headers: {}, body, facts });
    assert.match(identity.label, /^[\x20-\x7e]{1,256}$/);
    const message = facts.conversation().at(-1)?.read();
    identifier.answered(identity, { tenant: tenantId('t') }, message ? { message } : {});
    const fields = { ...api(path).usageFields?.(body), priority: 3 };
    const parts = [spliceFields(raw, new Set(Object.keys(body)), fields)].flat();
    const changed = JSON.parse(Buffer.concat(parts).toString()) as object;
    assert.deepEqual(Object.keys(changed).sort(), [...new Set([...Object.keys(body), ...Object.keys(fields)])].sort());
  }, GatewayError);
}

/** A streamed answer: the same bytes go on, and the same is learnt, however it is cut into chunks. */
function stream(path: string, input: Buffer): void {
  const facts = api(path).readRequest(JSON.parse(BODIES[path]!) as Record<string, unknown>);
  const follow = (chunks: readonly Buffer[]) => {
    const reader: StreamReader = api(path).readStream(facts, true);
    const splitter = new SseSplitter((event) => reader.push(event));
    const out = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
    const error = api(path).errorEvent(new GatewayError('engine_failed', 'x'), 'r1', reader);
    return { bytes: Buffer.concat(out).toString('latin1'), facts: reader.facts(), complete: reader.complete, error };
  };
  const whole = follow([input]);
  const size = input.length < 400 ? 1 : 13;
  const count = Math.ceil(input.length / size);
  const chunks = Array.from({ length: count }, (_, at) => input.subarray(at * size, (at + 1) * size));
  assert.deepEqual(follow(chunks), whole);
}

function answer(path: string, input: Buffer): void {
  expects(() => {
    const value: unknown = JSON.parse(input.toString());
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) api(path).readAnswer(value as never);
  }, SyntaxError);
}

function headers(input: Buffer): void {
  const text = input.toString('latin1');
  identifier.identify({
    tenant: tenantId('t'),
    headers: { baggage: text, traceparent: text, 'x-maitred-program': text, 'x-session-id': text },
    body: undefined,
    facts: undefined,
  });
  const seconds = retryAfterSeconds(text, new Date(0));
  assert.ok(seconds === undefined || (seconds >= 0 && Number.isFinite(seconds)));
  assert.match(headerValue(text), /^[\x20-\x7e]*$/);
  expects(() => readingsOf(splitTarget(withoutExtraSlashes(originForm(text))).path), GatewayError);
}

async function trace(input: Buffer, scratch: string): Promise<void> {
  writeFileSync(scratch, input);
  await readTrace(scratch);
}

function replay(input: Buffer): void {
  expects(
    () => {
      const [header, ...lines] = input
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown);
      const core = new CoreReplay(header);
      for (const line of lines) if (core.take(line) !== undefined) return;
    },
    ReplayFault,
    SyntaxError,
  );
}

type Samples = Readonly<Record<string, string>>;
const ofApis = (kind: string, samples: Samples, run: (path: string, input: Buffer) => void): Target[] =>
  Object.keys(samples).map((path) => ({
    name: `${kind} of ${path}`,
    samples: [samples[path]!, ...Object.values(samples)],
    share: 1,
    run: (input) => run(path, input),
  }));

/** A parser of files, which refuses a wrong one by a ConfigError. */
const ofFile = (name: string, sample: string, open: (file: string) => unknown): Target => ({
  name,
  samples: [sample],
  share: 0.1,
  run(input, scratch) {
    writeFileSync(scratch, input);
    expects(() => void open(scratch), ConfigError);
  },
});

const prometheus = (input: Buffer) => PROMETHEUS_NAMES.forEach((name) => void samplesOf(input.toString(), name));

export const TARGETS: readonly Target[] = [
  ...ofApis('a body', BODIES, body),
  ...ofApis('a stream', STREAMS, stream),
  ...ofApis('an answer', ANSWERS, answer),
  { name: 'headers and a path', samples: HEADERS, share: 1, run: headers },
  { name: 'Prometheus text', samples: [PROMETHEUS], share: 1, run: prometheus },
  ofFile('a configuration', CONFIG, (file) => loadConfig({ file, warn: () => undefined })),
  ofFile('a workload', WORKLOAD, openWorkload),
  { name: 'a trace', samples: FORMAT_NAMES.map((format) => sampleTrace(format, 3)), share: 0.1, run: trace },
  { name: 'an event log', samples: [sampleTrace('event-log', 6)], share: 0.3, run: replay },
];
