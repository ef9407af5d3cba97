import { engineId, millis, modelId, programId, tenantId, tokens, type Event, type Work } from '../../src/index.js';
import type { Engine, EngineSettings } from '../engine/engine.js';
import type { Sequence } from '../engine/sequence.js';
import type { Job } from './job.js';
import type { WorldOptions } from './options.js';

const MODEL = modelId('m');
/** Of programs that are nobody's in particular. */
const TENANT = 't';

/* The larger events that the world tells the scheduler, as the gateway would tell them. */

/** @param remaining the work to come, as its client declares it */
export function callArrived(
  job: Job,
  remaining: Work | undefined,
  {
    familyOf = (_, thread) => job.played.layout.family(thread),
    objectiveOf,
  }: Pick<WorldOptions, 'familyOf' | 'objectiveOf'>,
): Event {
  const waitMsMax = objectiveOf?.(job.played.run.program, job.call.thread);
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
    ...(waitMsMax !== undefined && { waitMsMax }),
    request: `${job.call.thread}/${job.index}`,
    ...(family !== undefined && { family }),
    ...(remaining !== undefined && { remaining }),
  };
}

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

/** @param probation back after a loss: one call at a time until one has finished */
export const engineJoined = (
  id: string,
  { preset, blockSize, host, windowMax }: EngineSettings,
  { kv, maxModelLen }: Engine<Job>,
  probation: boolean,
): Event => ({
  type: 'engineJoined',
  engine: engineId(id),
  models: [MODEL],
  capacityTokens: tokens(kv.size * blockSize),
  contextTokensMax: tokens(maxModelLen),
  ...(windowMax !== undefined && { windowMax }),
  ...(host !== undefined && {
    // Without copies of what is in the KV cache, the host adds to it.
    hostTokens: tokens(host.tokens + (host.writes === 'evicted' ? kv.size * blockSize : 0)),
    hostTokensPerSecond: host.bytesPerSecond / preset.kvBytesPerToken,
  }),
  ...(probation && { probation }),
});
