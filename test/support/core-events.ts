import {
  callId,
  engineId,
  millis,
  modelId,
  NO_STEPS,
  programId,
  tenantId,
  tokens,
  type CallArrived,
  type CallFailed,
  type CallFinished,
  type EngineJoined,
  type EngineShared,
  type Tokens,
  type Event,
  type Work,
} from '../../src/index.js';

/** Events from plain strings and numbers; omitted fields get the plainest value. */
export interface ArrivalFacts {
  readonly program?: string;
  readonly tenant?: string;
  readonly thread?: string;
  readonly model?: string;
  readonly prompt?: number;
  readonly max?: number;
  readonly request?: string;
  readonly retry?: true;
  readonly patient?: true;
  readonly background?: true;
  readonly waitMsMax?: number;
  readonly family?: { readonly id: number; readonly tokens: number };
  readonly remaining?: { readonly prompt: number; readonly output: number };
}

const work = ({ prompt, output }: NonNullable<ArrivalFacts['remaining']>): Work => ({
  promptTokens: tokens(prompt),
  outputTokens: tokens(output),
});

export function arrived(call: string, facts: ArrivalFacts = {}): CallArrived {
  return {
    type: 'callArrived',
    call: callId(call),
    program: programId(facts.program ?? `of-${call}`),
    tenant: tenantId(facts.tenant ?? 't'),
    thread: facts.thread ?? '',
    model: modelId(facts.model ?? 'm'),
    promptTokens: tokens(facts.prompt ?? 100),
    ...(facts.max !== undefined && { maxTokens: tokens(facts.max) }),
    ...(facts.request !== undefined && { request: facts.request }),
    ...(facts.retry !== undefined && { retry: facts.retry }),
    ...(facts.patient !== undefined && { patient: facts.patient }),
    ...(facts.background !== undefined && { background: facts.background }),
    ...(facts.waitMsMax !== undefined && { waitMsMax: millis(facts.waitMsMax) }),
    ...(facts.family !== undefined && { family: { id: facts.family.id, tokens: tokens(facts.family.tokens) } }),
    ...(facts.remaining !== undefined && { remaining: work(facts.remaining) }),
  };
}

export interface FinishFacts {
  readonly prompt?: number;
  readonly output?: number;
  readonly cached?: number;
  readonly serviceMs?: number;
  readonly queueMs?: number;
}

export function finished(call: string, facts: FinishFacts = {}): CallFinished {
  const told = facts.prompt !== undefined || facts.output !== undefined;
  return {
    type: 'callFinished',
    call: callId(call),
    ...(told && {
      usage: {
        promptTokens: tokens(facts.prompt ?? 0),
        outputTokens: tokens(facts.output ?? 0),
        ...(facts.cached !== undefined && { cachedTokens: tokens(facts.cached) }),
      },
    }),
    ...(facts.serviceMs !== undefined && { serviceMs: millis(facts.serviceMs) }),
    ...(facts.queueMs !== undefined && { queueMs: millis(facts.queueMs) }),
  };
}

/** @param ms how long the engine rests, or is closed to the call */
export function failed(call: string, failure: CallFailed['failure'], ms = 0): CallFailed {
  if (failure === 'busy' || failure === 'unreached')
    return { type: 'callFailed', call: callId(call), failure, restMs: millis(ms) };
  if (failure === 'broken')
    return { type: 'callFailed', call: callId(call), failure, ...(ms > 0 && { pauseMs: millis(ms) }) };
  return { type: 'callFailed', call: callId(call), failure };
}

export interface EngineFacts {
  readonly models?: readonly string[];
  readonly window?: number;
  readonly capacity?: number;
  readonly host?: number;
  readonly hostSpeed?: number;
  readonly contextMax?: number;
  readonly probation?: boolean;
}

export const sized = (window: number, capacity: number): EngineFacts => ({ window, capacity });

export function joined(engine: string, facts: EngineFacts = {}): EngineJoined {
  return {
    type: 'engineJoined',
    engine: engineId(engine),
    models: (facts.models ?? ['m']).map(modelId),
    ...(facts.window !== undefined && { windowMax: facts.window }),
    ...(facts.capacity !== undefined && { capacityTokens: tokens(facts.capacity) }),
    ...(facts.host !== undefined && { hostTokens: facts.host as Tokens }),
    ...(facts.hostSpeed !== undefined && { hostTokensPerSecond: facts.hostSpeed }),
    ...(facts.contextMax !== undefined && { contextTokensMax: tokens(facts.contextMax) }),
    ...(facts.probation !== undefined && { probation: facts.probation }),
  };
}

export const started = (call: string): Event => ({ type: 'callStarted', call: callId(call) });
export const progressed = (call: string, output: number): Event => ({
  type: 'callProgressed',
  call: callId(call),
  outputTokens: tokens(output),
});
export const cancelled = (call: string): Event => ({ type: 'callCancelled', call: callId(call) });
/** Its client hung up while it was queued, and may ask again. */
export const hungUp = (call: string): Event => ({ type: 'callCancelled', call: callId(call), mayReturn: true });
export const ended = (program: string): Event => ({ type: 'programEnded', program: programId(program) });
/** @param silentMs since its last sign of life */
export const lost = (engine: string, silentMs?: number): Event => ({
  type: 'engineLost',
  engine: engineId(engine),
  ...(silentMs !== undefined && { silentMs: millis(silentMs) }),
});
export const drained = (engine: string): Event => ({ type: 'engineDrained', engine: engineId(engine) });
export const reported = (
  engine: string,
  gauges: { waiting?: number; kvUsage?: number; preemptions?: number },
): Event => ({ type: 'engineReported', engine: engineId(engine), ...gauges });
export const woke: Event = { type: 'woke' };

/** What other gateways have on the engine: nothing but what is said. */
export const shared = (engine: string, facts: Partial<EngineShared> = {}): EngineShared => ({
  type: 'engineShared',
  engine: engineId(engine),
  inFlight: 0,
  loadTokens: tokens(0),
  weight: 0,
  steps: NO_STEPS,
  ended: 0,
  activeTokens: tokens(0),
  claimTokens: tokens(0),
  cachedTokens: tokens(0),
  waitingGateways: 0,
  ...facts,
});
