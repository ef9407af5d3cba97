import { fork } from 'node:child_process';
import { once } from 'node:events';
import pino from 'pino';
import type { Dispatch, EngineId, Millis, ProgramId, TenantId } from '../../src/index.js';
import type { CallHandle, CallReport, CallSpec } from '../../sidecar/calls/spec.js';
import type { Fleet } from '../../sidecar/engines/index.js';
import type { Identity } from '../../sidecar/identity/identity.js';
import { Metrics } from '../../sidecar/metrics/metrics.js';
import { Tracing } from '../../sidecar/tracing/tracing.js';
import { percentile, say, show } from '../numbers.js';

const CALLS = 5000;
const PROGRAMS = 50;
/** Calls between two turns of the event loop, in which batches are encoded and sent. */
const BATCH = 500;

const DISPATCH = { engine: 'gpu-1', level: 3, reason: 'direct', placement: 'home', queueMs: 0 } as unknown as Dispatch;
const REPORT = {
  outcome: 'completed',
  status: 200,
  dispatch: DISPATCH,
  attempts: 1,
  queueMs: 0.1,
  ttftMs: 1,
  serviceMs: 3,
  durationMs: 3.2,
  usage: { promptTokens: 500, outputTokens: 32, cachedTokens: 100 },
} as unknown as CallReport;
const TENANT = 'default' as TenantId;

/**
 * Processor time that watching adds to a call, each part by itself in a hot loop. Unlike throughput it can be told on a
 * busy machine: the lowest tenth of the rounds had the processor to themselves.
 */
export async function benchWatching(quick: boolean): Promise<void> {
  const collector = fork(new URL('collector.js', import.meta.url));
  const [url] = (await once(collector, 'message')) as [string];
  const rounds = quick ? 3 : 30;
  const rows: [string, (metrics: Metrics) => () => void][] = [
    ['counted (always)', (metrics) => () => count(metrics)],
    ['not sampled (sampleShare: 0)', (metrics) => tracer(metrics, url, 0)],
    ['traced', (metrics) => tracer(metrics, url, 1)],
  ];
  say('Processor time of a call, µs: lowest tenth of the rounds, and the median');
  for (const [title, make] of rows) {
    const metrics = new Metrics({
      hasEngine: () => true,
      tenantsMax: () => 100,
      idle: () => [],
      now: () => 0 as Millis,
    });
    const once = make(metrics);
    const micros: number[] = [];
    for (let round = 0; round < rounds; round += 1) micros.push(await microsOf(once));
    say(
      `${title.padEnd(30)} ${show(percentile(micros, 0.1)).padStart(6)} ${show(percentile(micros, 0.5)).padStart(6)}`,
    );
  }
  collector.disconnect();
}

function count(metrics: Metrics): void {
  const call = { spec: { tenant: TENANT } };
  metrics.accepted(call);
  metrics.dispatched(call.spec, DISPATCH, false);
  metrics.ended(call, REPORT);
}

function tracer(metrics: Metrics, url: string, sampleShare: number): () => void {
  const fleet = { get: () => ({ adapter: { kind: 'vllm' }, url: new URL('http://10.0.0.1:8000') }) };
  process.env['OTEL_BSP_MAX_QUEUE_SIZE'] = String(4 * CALLS);
  const log = pino({ level: 'silent' });
  const tracing = new Tracing({
    url: `${url}/v1/traces`,
    sampleShare,
    programsMax: 1000,
    fleet: fleet as unknown as Fleet,
    hasProgram: () => true,
    metrics,
    log,
  });
  let calls = 0;
  return () => {
    calls += 1;
    const label = `program-${calls % PROGRAMS}`;
    const identity = { program: label as ProgramId, label, thread: '', source: 'x-maitred-program' } as Identity;
    const trace = tracing.begin(TENANT, identity, {});
    const spec = { id: `c-${calls}`, requestId: `r-${calls}`, api: { kind: 'chat' }, tenant: TENANT, identity, trace };
    tracing.dispatched(spec as unknown as CallSpec, DISPATCH);
    tracing.ended(
      { spec: { ...spec, facts: { model: 'm', stream: true }, engine: '' as EngineId } } as unknown as CallHandle,
      REPORT,
    );
  };
}

async function microsOf(once: () => void): Promise<number> {
  const before = process.cpuUsage();
  for (let call = 1; call <= CALLS; call += 1) {
    once();
    if (call % BATCH === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}
