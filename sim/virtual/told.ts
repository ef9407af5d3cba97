import {
  engineId,
  millis,
  modelId,
  programId,
  tenantId,
  tokens,
  type CallId,
  type Event,
  type EngineReported,
  type Work,
} from '../../src/index.js';
import type { Engine, EngineSettings } from '../engine/engine.js';
import type { Sequence } from '../engine/sequence.js';
import type { Job } from './job.js';
import type { WorldOptions } from './options.js';

const MODEL = modelId('m');
/** Of programs that are nobody's in particular. */
const TENANT = 't';

/* Every event that the world tells the scheduler, as the gateway would tell it. */

/** @param remaining the work to come, as its client declares it */
export function callArrived(
  job: Job,
  remaining: Work | undefined,
  familyOf: WorldOptions['familyOf'] = (_, thread) => job.played.layout.family(thread),
): Event {
  const family = familyOf(job.played.run.program.id, job.call.thread);
  return {
    type: 'callArrived',
    call: job.id,
    program: programId(job.played.id),
    tenant: tenantId(job.played.run.program.tenant ?? TENANT),
    thread: job.call.thread,
    model: MODEL,
    promptTokens: tokens(job.askedTokens),
    ...(job.streams && { patient: true as const }),
    ...(job.played.run.program.background && { background: true as const }),
    request: `${job.call.thread}/${job.index}`,
    ...(family !== undefined && { family }),
    ...(remaining !== undefined && { remaining }),
  };
}

export const callStarted = (call: CallId): Event => ({ type: 'callStarted', call });

export function callFinished(job: Job, { scheduledAt, endedAt, cachedTokens }: Sequence<Job>): Event {
  const { id, promptTokens, outputTokens, dispatchedMs } = job;
  return {
    type: 'callFinished',
    call: id,
    usage: {
      promptTokens: tokens(promptTokens),
      outputTokens: tokens(outputTokens),
      cachedTokens: tokens(cachedTokens),
    },
    serviceMs: millis(endedAt - scheduledAt),
    queueMs: millis(scheduledAt - dispatchedMs),
  };
}

/** The client has left; a waiting call's client may ask again. */
export const callCancelled = (call: CallId, mayReturn: boolean): Event => ({
  type: 'callCancelled',
  call,
  ...(mayReturn && { mayReturn }),
});

/** The engine answered with a 4xx: the request was at fault. */
export const callRefused = (call: CallId): Event => ({ type: 'callFailed', call, failure: 'refused' });

/** The engine had no room, or no connection to it came about. */
export const callSentBack = (call: CallId, failure: 'busy' | 'unreached', restMs: number): Event => ({
  type: 'callFailed',
  call,
  failure,
  restMs: millis(restMs),
});

/** The connection to the engine broke before the client had seen anything. */
export const callBroken = (call: CallId, pauseMs: number): Event => ({
  type: 'callFailed',
  call,
  failure: 'broken',
  pauseMs: millis(pauseMs),
});

/** It broke after the client had seen a part of the answer. */
export const callLost = (call: CallId): Event => ({ type: 'callFailed', call, failure: 'lost' });

export const programEnded = (id: string): Event => ({ type: 'programEnded', program: programId(id) });

/** @param probation back after a loss: one call at a time until one has finished */
export const engineJoined = (
  id: string,
  { preset, blockSize, host }: EngineSettings,
  { kv, maxModelLen }: Engine<Job>,
  probation: boolean,
): Event => ({
  type: 'engineJoined',
  engine: engineId(id),
  models: [MODEL],
  capacityTokens: tokens(kv.size * blockSize),
  contextTokensMax: tokens(maxModelLen),
  ...(host !== undefined && {
    // Without copies of what is in the KV cache, the host adds to it.
    hostTokens: tokens(host.tokens + (host.writes === 'evicted' ? kv.size * blockSize : 0)),
    hostTokensPerSecond: host.bytesPerSecond / preset.kvBytesPerToken,
  }),
  ...(probation && { probation }),
});

export const engineReported = (
  id: string,
  load: Pick<EngineReported, 'waiting' | 'kvUsage' | 'preemptions'>,
): Event => ({
  type: 'engineReported',
  engine: engineId(id),
  ...load,
});

export const engineLost = (id: string): Event => ({ type: 'engineLost', engine: engineId(id) });
