import { z } from 'zod';
import {
  EVENT_LOG_VERSION,
  type CallFailed,
  type Command,
  type Elsewhere,
  type Event,
  type Family,
  type LogLine,
  type RootThread,
  type Usage,
  type Work,
} from '../../src/index.js';
import { checked, type Fault } from './records.js';

/** A schema for each field of `T` but `type`: the compiler asks for a new field's. */
type Fields<T> = {
  readonly [K in Exclude<keyof T & string, 'type'>]-?: object extends Pick<T, K> ? z.ZodOptional : z.ZodType;
};
const object = <T>(fields: Fields<T>) => z.strictObject(fields);

const text = z.string();
const count = z.int().min(0);
const yes = z.literal(true).optional();
/** JSON has no NaN and no infinities: these are words. */
const number = z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity']).transform(Number)]);
const settings = z.record(text, z.unknown());

const root = object<RootThread>({ calls: count, firstPromptTokens: count, contextTokens: count });
const work = object<Work>({ promptTokens: count, outputTokens: count });
const family = object<Family>({ id: number, harness: number.optional(), tokens: count });
const usage = object<Usage>({
  promptTokens: count,
  outputTokens: count,
  cachedTokens: count.optional(),
  hostCachedTokens: count.optional(),
});
const elsewhere = object<Elsewhere>({
  serviceMs: number,
  calls: count,
  home: text.optional(),
  contextTokens: count.optional(),
  root,
});

/** The same of several keys. */
const each = <T, K extends string>(type: T, ...keys: readonly K[]) =>
  Object.fromEntries(keys.map((key) => [key, type])) as Record<K, T>;

type Typed = Event | Command;
const typed = <T extends Exclude<Typed, CallFailed>['type']>(type: T, fields: Fields<Extract<Typed, { type: T }>>) =>
  z.strictObject({ type: z.literal(type), ...fields });

const failed = <F extends CallFailed['failure']>(
  failure: F,
  fields: Omit<Fields<Extract<CallFailed, { failure: F }>>, 'call' | 'failure'>,
) => z.strictObject({ type: z.literal('callFailed'), call: text, failure: z.literal(failure), ...fields });

const event = z.discriminatedUnion('type', [
  typed('callArrived', {
    ...each(text, 'call', 'program', 'tenant', 'thread', 'model'),
    ...each(text.optional(), 'engine', 'request'),
    promptTokens: count,
    maxTokens: count.optional(),
    waitMsMax: number.optional(),
    ...each(yes, 'mayMove', 'patient', 'background', 'retry'),
    family: family.optional(),
    remaining: work.optional(),
    elsewhere: elsewhere.optional(),
  }),
  typed('callStarted', { call: text }),
  typed('callProgressed', { call: text, outputTokens: count }),
  typed('callFinished', { call: text, usage: usage.optional(), ...each(number.optional(), 'serviceMs', 'queueMs') }),
  z.discriminatedUnion('failure', [
    failed('busy', { restMs: number }),
    failed('unreached', { restMs: number }),
    failed('broken', { pauseMs: number.optional() }),
    failed('refused', {}),
    failed('lost', {}),
  ]),
  typed('callCancelled', { call: text, mayReturn: yes }),
  typed('programEnded', { program: text }),
  typed('programMoved', { program: text }),
  typed('engineJoined', {
    engine: text,
    models: z.array(text),
    ...each(number.optional(), 'windowMax', 'hostTokensPerSecond'),
    ...each(count.optional(), 'capacityTokens', 'hostTokens', 'contextTokensMax'),
    probation: z.boolean().optional(),
    ...each(yes, 'shared', 'down'),
  }),
  typed('engineReported', { engine: text, ...each(number.optional(), 'waiting', 'kvUsage', 'preemptions') }),
  typed('engineLost', { engine: text, silentMs: number.optional() }),
  typed('engineDrained', { engine: text }),
  typed('engineShared', {
    engine: text,
    ...each(count, 'inFlight', 'loadTokens', 'activeTokens', 'claimTokens', 'cachedTokens', 'waitingGateways'),
    ...each(count.optional(), 'slots', 'ended', 'waitingLevel'),
    weight: number.optional(),
    steps: z.array(number).optional(),
  }),
  typed('woke', {}),
]);

const commands = z.array(
  z.discriminatedUnion('type', [
    typed('dispatch', {
      ...each(text, 'call', 'engine', 'reason', 'placement'),
      ...each(number, 'level', 'queueMs'),
      inheritedMs: number.optional(),
    }),
    typed('reject', { call: text, refusal: text, retryAfterMs: number.optional() }),
    typed('wakeAt', { at: number }),
    typed('programGone', {
      program: text,
      cause: z.enum(['ended', 'expired', 'evicted']),
      ...each(number, 'calls', 'serviceMs', 'waitingMs', 'durationMs'),
    }),
  ]),
);

/** Kinds of lines by the key that identifies each. */
const LINES = {
  event: z.strictObject({ now: z.number(), event, commands }),
  maitredEventLog: z.strictObject({
    maitredEventLog: z.literal(EVENT_LOG_VERSION),
    maitred: text,
    behaviour: z.int().min(1),
    startedAt: text,
    now: z.number(),
    settings,
  }),
  settings: z.strictObject({ now: z.number(), settings, commands }),
  end: z.strictObject({ end: z.enum(['closed', 'behind']), steps: count }),
};
/** A log of another version may have any other keys. */
const header = z.looseObject({ maitredEventLog: z.literal(EVENT_LOG_VERSION) });

/** Checks a parsed line of an event log (docs/JSON.md). Settings are left for their reader to check. */
export function readLogLine(value: unknown): { readonly value: LogLine } | Fault {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const kind = (Object.keys(LINES) as (keyof typeof LINES)[]).find((key) => keys.includes(key));
  if (kind === undefined) return { field: '', problem: 'is not a line of an event log' };
  const version = kind === 'maitredEventLog' ? checked(value, header) : undefined;
  if (version !== undefined && 'problem' in version) return version;
  // Ids and units are branded.
  return checked(value, LINES[kind] as z.ZodType) as { readonly value: LogLine } | Fault;
}
