import type { Preset } from '../engine/presets.js';
import { leastSquares } from './least-squares.js';
import { observed, type Group, type Measured } from './measured.js';
import { predict } from './predict.js';

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
export type Times = Readonly<Record<TimeName, number>>;

export interface FittedTime {
  readonly ms: number;
  /** Standard error, as a share of the time. */
  readonly relativeError: number;
  /** Whether the measurements identify it. If not, only its sum with other times is reliable. */
  readonly isTold: boolean;
}

export interface RelativeErrors {
  readonly median: number;
  readonly worst: number;
  /** Number of times compared. */
  readonly count: number;
}

export interface PresetFit {
  readonly preset: Preset;
  readonly times: Readonly<Record<TimeName, FittedTime>>;
  readonly errors: RelativeErrors;
}

/** Least relative noise assumed of a measured time. */
const NOISE = 0.03;
/** Prior standard deviation of the logarithm of a time: a factor of 20 either way is not unusual. */
const PRIOR_DEVIATION = 3;
const TOLD_ERROR_MAX = 0.5;

/**
 * The preset under which the engine model reproduces the measured times, by least squares of log(predicted / measured).
 * The model's sizes, which times alone do not determine, and the limits are those of `base`.
 */
export function fit(base: Preset, groups: readonly Group[]): PresetFit {
  const timesOf = (logs: readonly number[]) =>
    Object.fromEntries(NAMES.map((name, i) => [name, Math.exp(logs[i] ?? 0)])) as Times;
  const residuals = (logs: readonly number[]) => {
    const times = timesOf(logs);
    return ratios(presetOf(base, times), times.request, groups).map((ratio) => Math.log(ratio) / NOISE);
  };
  const guess = firstGuess(groups);
  const start = NAMES.map((name) => Math.log(guess[name]));
  const { parameters, errors } = leastSquares(residuals, { start, deviation: PRIOR_DEVIATION });
  const times = timesOf(parameters);
  const preset = roundedPreset(presetOf(base, times));
  const fitted = NAMES.map((name, i): [TimeName, FittedTime] => {
    const relativeError = errors[i] ?? Infinity;
    return [name, { ms: rounded(times[name]), relativeError, isTold: relativeError < TOLD_ERROR_MAX }];
  });
  return {
    preset,
    times: Object.fromEntries(fitted) as Record<TimeName, FittedTime>,
    errors: errorsOf(preset, times.request, groups),
  };
}

/** Distance of the model's times from the measured ones, as a share of the latter. */
export function errorsOf(preset: Preset, requestMs: number, groups: readonly Group[]): RelativeErrors {
  const sizes = ratios(preset, requestMs, groups)
    .map((ratio) => Math.abs(ratio - 1))
    .sort((a, b) => a - b);
  return { median: sizes[Math.floor(sizes.length / 2)] ?? NaN, worst: sizes.at(-1) ?? NaN, count: sizes.length };
}

/** Predicted over measured, for each compared time. */
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

/** Rounded to the digits that are significant. */
function roundedPreset(preset: Preset): Preset {
  return {
    ...preset,
    flopsPerSecond: rounded(preset.flopsPerSecond),
    bytesPerSecond: rounded(preset.bytesPerSecond),
    attentionFlops: rounded(preset.attentionFlops),
    kvBytesPerToken: rounded(preset.kvBytesPerToken),
    stepOverheadMs: rounded(preset.stepOverheadMs),
    sequenceOverheadMs: rounded(preset.sequenceOverheadMs),
  };
}

const rounded = (value: number): number => Number(value.toPrecision(4));

/**
 * A first guess from the shortest and longest prompt, and the least and most at a time. Half of a lone token's time
 * counts as overhead.
 */
function firstGuess(groups: readonly Group[]): Times {
  const tokenMs = ({ firstTokenMs, endMs, outputTokens }: Measured) => (endMs - firstTokenMs) / (outputTokens - 1);
  const lone = groups.flatMap((group) => (group.length === 1 ? group : []));
  const byPrompt = lone.toSorted((a, b) => a.promptTokens - b.promptTokens);
  const decoding = lone.filter(({ outputTokens }) => outputTokens > 1).sort((a, b) => a.promptTokens - b.promptTokens);
  const widest = groups.filter(([first]) => (first?.outputTokens ?? 0) > 1).sort((a, b) => b.length - a.length)[0];
  const [short, long, decode, wide] = [byPrompt[0], byPrompt.at(-1), decoding[0], widest?.[0]];
  if (short === undefined || long === undefined || decode === undefined || widest === undefined || wide === undefined)
    throw new RangeError('nothing was measured of requests that were alone');
  // Where a proxy buffers, all tokens arrive together and the difference is nothing.
  const stepMs = Math.max(tokenMs(decode), decode.endMs / (100 * decode.outputTokens));
  const prefillToken = Math.max(
    (long.firstTokenMs - short.firstTokenMs) / Math.max(1, long.promptTokens - short.promptTokens),
    stepMs / 1000,
  );
  return {
    prefillToken,
    attentionPair: prefillToken / 10_000,
    weights: stepMs / 2,
    contextToken: stepMs / 20_000,
    step: stepMs / 2,
    sequence: Math.max((tokenMs(wide) - stepMs) / Math.max(1, widest.length - 1), stepMs / 200),
    request: Math.max(short.firstTokenMs - stepMs, stepMs / 20),
  };
}
