import type { CallFailed, Command, Elsewhere, Event, Family, RootThread, Usage, Work } from './events.js';
import { EVENT_LOG_VERSION, type LogLine } from './event-log.js';

/** A fault of a line: its path, such as `event.promptTokens` or '' for the whole line, and the problem. */
export class LogFault {
  constructor(
    readonly field: string,
    readonly problem: string,
  ) {}
}

type Holder = Record<string, unknown>;
/** Checks the value under a key that is present. */
type Rule = (holder: Holder, key: string, path: string) => LogFault | undefined;
type Shape = Readonly<Record<string, Rule>>;
type Name<T, K extends keyof T & string> = T extends Record<K, T[K]> ? K : `${K}?`;
/** A rule for each field but `type`; names of optional fields end in a question mark. */
type ShapeOf<T> = { readonly [K in Exclude<keyof T & string, 'type'> as Name<T, K>]: Rule };
type ShapesOf<T extends { readonly type: string }> = { readonly [E in T as E['type']]: ShapeOf<E> };

const rule =
  (holds: (value: unknown) => boolean, problem: string): Rule =>
  (holder, key, path) =>
    holds(holder[key]) ? undefined : new LogFault(path, problem);

const isObject = (value: unknown): value is Holder =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isList = (holds: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(holds);

const text = rule(isText, 'not a text');
const texts = rule(isList(isText), 'not a list of texts');
const numbers = rule(isList(isNumber), 'not a list of numbers');
const yes = rule((value) => value === true, 'not true');
const yesOrNo = rule((value) => typeof value === 'boolean', 'neither true nor false');
const count = rule((value) => Number.isSafeInteger(value) && (value as number) >= 0, 'not a whole number');
const time = rule(isNumber, 'not a number');
const isOneOf = (words: readonly string[]) => (value: unknown) => words.includes(value as string);
const oneOf = (...words: readonly string[]) => rule(isOneOf(words), `not one of ${words.join(', ')}`);
const object =
  (shape: Shape): Rule =>
  (holder, key, path) => {
    const value = holder[key];
    return isObject(value) ? checkFields(value, shape, `${path}.`) : new LogFault(path, 'not an object');
  };

/** A number, or a word for NaN or an infinity, which is replaced by that number in its place. */
const number: Rule = (holder, key, path) => {
  const value = holder[key];
  if (typeof value === 'number') return undefined;
  if (value !== 'NaN' && value !== 'Infinity' && value !== '-Infinity') return new LogFault(path, 'not a number');
  holder[key] = Number(value);
  return undefined;
};

const WORK: ShapeOf<Work> = { promptTokens: count, outputTokens: count };
const ROOT: ShapeOf<RootThread> = { calls: count, firstPromptTokens: count, contextTokens: count };
const ELSEWHERE: ShapeOf<Elsewhere> = { serviceMs: number, calls: count, 'home?': text, 'contextTokens?': count, root: object(ROOT) }; // prettier-ignore
const FAMILY: ShapeOf<Family> = { id: number, 'harness?': number, tokens: count };
const USAGE: ShapeOf<Usage> = {
  promptTokens: count,
  outputTokens: count,
  'cachedTokens?': count,
  'hostCachedTokens?': count,
};

/** All kinds of failure in one shape: `busy` and `unreached` require the rest. */
const FAILURE: Shape = {
  call: text,
  failure: (holder, key, path) => {
    const fault = oneOf('busy', 'unreached', 'refused', 'broken', 'lost')(holder, key, path);
    const rests = holder[key] === 'busy' || holder[key] === 'unreached';
    if (fault !== undefined || !rests || holder['restMs'] !== undefined) return fault;
    return new LogFault(path.replace(key, 'restMs'), 'missing');
  },
  'restMs?': number,
  'pauseMs?': number,
};

const EVENTS: ShapesOf<Exclude<Event, CallFailed>> & { readonly callFailed: Shape } = {
  callArrived: {
    call: text,
    program: text,
    tenant: text,
    thread: text,
    model: text,
    'engine?': text,
    promptTokens: count,
    'maxTokens?': count,
    'patient?': yes,
    'background?': yes,
    'request?': text,
    'retry?': yes,
    'family?': object(FAMILY),
    'remaining?': object(WORK),
    'elsewhere?': object(ELSEWHERE),
  },
  callStarted: { call: text },
  callProgressed: { call: text, outputTokens: count },
  callFinished: {
    call: text,
    'usage?': object(USAGE),
    'serviceMs?': number,
    'queueMs?': number,
  },
  callFailed: FAILURE,
  callCancelled: { call: text, 'mayReturn?': yes },
  programEnded: { program: text },
  programMoved: { program: text },
  engineJoined: {
    engine: text,
    models: texts,
    'windowMax?': number,
    'capacityTokens?': count,
    'hostTokens?': count,
    'hostTokensPerSecond?': number,
    'contextTokensMax?': count,
    'probation?': yesOrNo,
    'shared?': yes,
    'down?': yes,
  },
  engineReported: { engine: text, 'waiting?': number, 'kvUsage?': number, 'preemptions?': number },
  engineLost: { engine: text },
  engineDrained: { engine: text },
  engineShared: {
    engine: text,
    'slots?': count,
    inFlight: count,
    loadTokens: count,
    'weight?': number,
    'steps?': numbers,
    'ended?': count,
    activeTokens: count,
    claimTokens: count,
    cachedTokens: count,
    waitingGateways: count,
    'waitingLevel?': count,
  },
  woke: {},
};

const COMMANDS: ShapesOf<Command> = {
  dispatch: {
    call: text,
    engine: text,
    level: number,
    queueMs: number,
    'inheritedMs?': number,
    reason: text,
    placement: text,
  },
  reject: { call: text, refusal: text, 'retryAfterMs?': number },
  wakeAt: { at: number },
  programGone: {
    program: text,
    cause: oneOf('ended', 'expired', 'evicted'),
    calls: number,
    serviceMs: number,
    waitingMs: number,
    durationMs: number,
  },
};

const typed =
  (shapes: Readonly<Record<string, Shape>>): Rule =>
  (holder, key, path) => {
    const value = holder[key];
    if (!isObject(value)) return new LogFault(path, 'not an object');
    const { type } = value;
    const shape = typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
    if (shape !== undefined) return checkFields(value, shape, `${path}.`);
    return new LogFault(`${path}.type`, `not one of ${Object.keys(shapes).join(', ')}`);
  };

const command = typed(COMMANDS);
const commands: Rule = (holder, key, path) => {
  const list = holder[key];
  if (!Array.isArray(list)) return new LogFault(path, 'not a list');
  for (const index of list.keys()) {
    const fault = command(list as unknown as Holder, String(index), `${path}.${index}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

const behaviour = rule((value) => Number.isSafeInteger(value) && (value as number) > 0, 'not a number from 1 on');
const settings = rule(isObject, 'not an object');
const version: Rule = (holder, key, path) => {
  const value = holder[key];
  if (value === EVENT_LOG_VERSION) return undefined;
  const isNewer = typeof value === 'number' && value > EVENT_LOG_VERSION;
  return new LogFault(path, isNewer ? `${value} is newer than ${EVENT_LOG_VERSION}, which is read here` : 'unknown');
};

/** Kinds of lines by the key that identifies each. */
const LINES: readonly (readonly [string, Shape])[] = [
  ['event', { now: time, event: typed(EVENTS), commands }],
  ['maitredEventLog', { maitredEventLog: version, maitred: text, behaviour, startedAt: text, now: time, settings }],
  ['settings', { now: time, settings, commands }],
  ['end', { end: oneOf('closed', 'behind'), steps: count }],
];

/**
 * Checks a parsed line and returns it, or its first fault. Numbers written as words become numbers in their places.
 * Settings are left for their reader to check.
 */
export function readLogLine(value: unknown): LogLine | LogFault {
  if (!isObject(value)) return new LogFault('', 'not an object');
  const [, shape] = LINES.find(([key]) => Object.hasOwn(value, key)) ?? [];
  if (shape === undefined) return new LogFault('', 'not a line of an event log');
  return checkFields(value, shape, '') ?? (value as unknown as LogLine);
}

function checkFields(holder: Holder, shape: Shape, path: string): LogFault | undefined {
  let known = 0;
  for (const name in shape) {
    const isOptional = name.endsWith('?');
    const key = isOptional ? name.slice(0, -1) : name;
    if (holder[key] === undefined) {
      if (isOptional) continue;
      return new LogFault(path + key, 'missing');
    }
    known += 1;
    const fault = shape[name]?.(holder, key, path + key);
    if (fault !== undefined) return fault;
  }
  const keys = Object.keys(holder);
  if (keys.length - ('type' in holder ? 1 : 0) === known) return undefined;
  const [unknown = ''] = keys.filter((key) => key !== 'type' && !(key in shape) && !(`${key}?` in shape));
  return new LogFault(path + unknown, 'unknown');
}
