import type { Preset } from '../engine/presets.js';
import { leastSquares } from './least-squares.js';
import { HashList } from '../engine/blocks.js';
import { Engine } from '../engine/engine.js';
import type { Sequence } from '../engine/sequence.js';

/**
 * The components of a step's time in the engine model, in milliseconds, and the time of a request outside the engine.
 */
export const TIMES = {
  prefillToken: 'linear layers, a token of a large step',
  attentionPair: 'attention in prefill, a token and one before it',
  weights: 'reading the weights, a step',
  contextToken: 'attention in decode, a token of context',
  step: 'overhead, a step',
  sequence: 'overhead, a sequence of a step',
  request: 'outside the engine, a request',
} as const;
export type TimeName = keyof typeof TIMES;
const NAMES = Object.keys(TIMES) as TimeName[];
type Times = Readonly<Record<TimeName, number>>;

interface FittedTime {
  readonly ms: number;
  /** Standard error, as a share of the time. */
  readonly relativeError: number;
  /** Whether the measurements identify it. If not, only its sum with other times is reliable. */
  readonly isTold: boolean;
}

export type RelativeErrors = Readonly<ReturnType<typeof errorsOf>>;
export type PresetFit = Readonly<ReturnType<typeof fitPreset>>;

/** Least relative noise assumed of a measured time. */
const NOISE = 0.03;
/** Prior standard deviation of the logarithm of a time: a factor of 20 either way is not unusual. */
const PRIOR_DEVIATION = 3;
const TOLD_ERROR_MAX = 0.5;
/** First guesses, in ms: of the time outside the engine, and of an overhead that a preset has not. */
const REQUEST_MS = 1;
const OVERHEAD_MS = 0.01;

/**
 * The preset under which the engine model reproduces the measured times, by least squares of log(predicted / measured).
 * The model's sizes, which times alone do not determine, and the limits are those of `base`.
 */
export function fitPreset(base: Preset, groups: readonly Group[]) {
  const timesOf = (logs: readonly number[]) =>
    Object.fromEntries(NAMES.map((name, i) => [name, Math.exp(logs[i] ?? 0)])) as Times;
  const residuals = (logs: readonly number[]) => {
    const times = timesOf(logs);
    return ratios(presetOf(base, times), times.request, groups).map((ratio) => Math.log(ratio) / NOISE);
  };
  const first = startOf(base);
  const start = NAMES.map((name) => Math.log(first[name]));
  const { parameters, errors } = leastSquares(residuals, { start, deviation: PRIOR_DEVIATION });
  const times = timesOf(parameters);
  const preset = roundedPreset(presetOf(base, times));
  const fitted = NAMES.map((name, i): [TimeName, FittedTime] => {
    const relativeError = errors[i] ?? Infinity;
    return [name, { ms: rounded(times[name]), relativeError, isTold: relativeError < TOLD_ERROR_MAX }];
  });
  return {
    preset,
    times: Object.fromEntries(fitted) as Readonly<Record<TimeName, FittedTime>>,
    errors: errorsOf(preset, times.request, groups),
  };
}

export function errorsOf(preset: Preset, requestMs: number, groups: readonly Group[]) {
  const sizes = ratios(preset, requestMs, groups)
    .map((ratio) => Math.abs(ratio - 1))
    .sort((a, b) => a - b);
  return { median: sizes[Math.floor(sizes.length / 2)] ?? NaN, worst: sizes.at(-1) ?? NaN, count: sizes.length };
}

function ratios(preset: Preset, requestMs: number, groups: readonly Group[]): number[] {
  return groups.flatMap((group) => {
    const predicted = predict(preset, requestMs, group);
    return group.flatMap((measured, index) => {
      const isAlone = group.length === 1;
      const expected = observed(measured, predicted[index] ?? { firstTokenMs: NaN, endMs: NaN }, isAlone);
      return observed(measured, measured, isAlone).map((time, i) => (expected[i] ?? NaN) / time);
    });
  });
}

/**
 * Times fix only the quotients of sizes and rates. So the model's weights and operations stay; the rates follow from
 * them, and the sizes of attention follow from its times at these rates.
 */
export function presetOf(base: Preset, times: Times): Preset {
  const flopsPerSecond = (1000 * base.flopsPerToken) / times.prefillToken;
  const bytesPerSecond = (1000 * base.weightBytes) / times.weights;
  return {
    ...base,
    flopsPerSecond,
    bytesPerSecond,
    attentionFlops: (times.attentionPair / 1000) * flopsPerSecond,
    kvBytesPerToken: (times.contextToken / 1000) * bytesPerSecond,
    stepOverheadMs: times.step,
    sequenceOverheadMs: times.sequence,
  };
}

/** The constants that times fix, rounded to the digits that are significant. */
function roundedPreset(preset: Preset): Preset {
  const names = [
    'flopsPerSecond',
    'bytesPerSecond',
    'attentionFlops',
    'kvBytesPerToken',
    'stepOverheadMs',
    'sequenceOverheadMs',
  ] as const;
  return { ...preset, ...Object.fromEntries(names.map((name) => [name, rounded(preset[name])])) };
}

const rounded = (value: number): number => Number(value.toPrecision(4));

/** The inverse of `presetOf`, as the start of the fit. */
const startOf = (base: Preset): Times => ({
  prefillToken: (1000 * base.flopsPerToken) / base.flopsPerSecond,
  attentionPair: (1000 * base.attentionFlops) / base.flopsPerSecond,
  weights: (1000 * base.weightBytes) / base.bytesPerSecond,
  contextToken: (1000 * base.kvBytesPerToken) / base.bytesPerSecond,
  step: base.stepOverheadMs || OVERHEAD_MS,
  sequence: base.sequenceOverheadMs || OVERHEAD_MS,
  request: REQUEST_MS,
});

/** One request to a server as its client measured it. Times in milliseconds. */
export interface Measured {
  /** Time since the first request of its group was sent. */
  readonly sentMs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Since it was sent. */
  readonly firstTokenMs: number;
  readonly endMs: number;
}

/** Requests that were in the server together, with no others. */
export type Group = readonly Measured[];

type Ends = Pick<Measured, 'firstTokenMs' | 'endMs'>;

/**
 * The compared times of a measured and a predicted request: to the end, and for a lone request also to the first token.
 * Among others, the first token depends on which requests shared its step. The time between tokens is left out, since
 * buffered tokens arrive together.
 */
function observed({ outputTokens }: Measured, { firstTokenMs, endMs }: Ends, isAlone: boolean): number[] {
  if (!isAlone) return [endMs];
  return outputTokens === 1 ? [firstTokenMs] : [firstTokenMs, endMs];
}

/** Ample room: every group has fitted into the measured server. */
const TOKENS_MAX = 1e9;

/** The engine model's times for a group of requests that reach the engine `requestMs` after they are sent. */
export function predict(preset: Preset, requestMs: number, group: Group): Ends[] {
  const engine = new Engine({
    preset: { ...preset, kvTokens: TOKENS_MAX, maxModelLen: TOKENS_MAX },
    blockSize: 16,
  });
  const runUntil = (ms: number) => {
    while (engine.stepEnd < ms) {
      const endMs = engine.stepEnd;
      engine.end();
      engine.begin(endMs, Infinity);
    }
  };
  const sequences = new Map<Measured, Sequence>();
  for (const measured of group.toSorted((a, b) => a.sentMs - b.sentMs)) {
    const nowMs = measured.sentMs + requestMs;
    runUntil(nowMs);
    const sequence = engine.add({ ...measured, blockHashes: new HashList([]) }, nowMs);
    if (sequence !== undefined) sequences.set(measured, sequence);
    if (Number.isNaN(engine.stepEnd)) engine.begin(nowMs, Infinity);
    else engine.cut(nowMs);
  }
  runUntil(Infinity);
  return group.map((measured) => {
    const { firstTokenAt = NaN, endedAt = NaN } = sequences.get(measured) ?? {};
    return { firstTokenMs: firstTokenAt - measured.sentMs, endMs: endedAt - measured.sentMs };
  });
}

/**
 * Largest median error of unseen requests with which policies may be compared. An idle server gave 2 %, a busy one 14 %
 * (docs/TRUST.md).
 */
const ERROR_MAX = 0.1;

/** Whether a preset is good enough to compare policies. @param unseen errors on requests held out from the fit */
export const isGood = ({ median }: RelativeErrors): boolean => median <= ERROR_MAX;

/** The same in words, with the remedy. */
export function verdictOf(unseen: RelativeErrors): string {
  const { median, worst } = unseen;
  const error = `predictions for unseen requests are off by ${percent(median)} in the median, ${percent(worst)} at worst`;
  return isGood(unseen)
    ? `Good enough to compare policies: ${error}.`
    : `Not good enough to compare policies: ${error}.
Measure again on an idle server. If that does not help, start from a preset closer to your model, and set --slots and
--batch-tokens to the limits of the server.`;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
