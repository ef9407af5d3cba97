import type { Preset } from '../engine/presets.js';
import type { CallRecord } from '../virtual/options.js';
import { presetOf } from './fit.js';
import { leastSquares } from './least-squares.js';

/** One call of an engine's usual traffic. NaN: not known, as of the first token of a call that does not stream. */
export type Served = Pick<
  CallRecord,
  'dispatchedMs' | 'firstTokenMs' | 'endedMs' | 'promptTokens' | 'cachedTokens' | 'outputTokens'
>;

export type TrafficFit = NonNullable<ReturnType<typeof fitTraffic>>;

const CALLS_MIN = 20;
/** A call waits for half of the step under way. */
const HALF = 0.5;
const PRIOR_DEVIATION = 3;
/** Usual error of a call's time, as a share. */
const ERROR_USUAL = 0.1;
/** The time of a call is taken to be at least this share of the measured one: it must be above zero. */
const SHARE_MIN = 0.1;
/** A first token after this share of the call's time may be that of an answer in one burst, and tells nothing. */
const BURST_SHARE = 0.5;
/** Share of the call's time in which it is then taken to compute its prompt. */
const PREFILL_SHARE = 0.1;

/**
 * Fits the times of a preset to the usual traffic of engines, in which calls overlap and find prefixes in the cache. The
 * time of a call, from dispatch to end, is linear in them:
 *
 *     steps x (a + b x calls in a step + c x tokens of context in a step)
 *       + d x prompt tokens computed meanwhile + e x pairs of such a token and one before it
 *       - f x prompts computed meanwhile + g
 *
 * The last but one is the time for reading the weights, which a step with a prompt spends on arithmetic. `g` is outside
 * the engine. The fit holds where the traffic has been. First tokens only place the load: a busy machine or a parser of
 * tool calls may hold a stream back, so that its answer comes in one burst.
 * @param engines the calls of each engine
 * @param nowMs end of the calls that still run
 * @returns undefined when there are too few answers
 */
export function fitTraffic(base: Preset, engines: readonly (readonly Served[])[], nowMs: number) {
  const rows = engines.flatMap((calls) => rowsOf(calls, nowMs));
  if (rows.length < CALLS_MIN) return undefined;
  const stepMs = quantile(
    rows.map(({ terms, ms }) => ms / (terms[0] ?? NaN)),
    0.1,
  );
  const prior = [stepMs, stepMs / 200, stepMs / 20_000, stepMs / 100, stepMs / 1e6, stepMs / 2, stepMs];
  const residuals = (logs: readonly number[]) => {
    const times = logs.map(Math.exp);
    return rows.map(({ terms, ms }) => {
      const fitted = terms.reduce((sum, term, at) => sum + term * (times[at] ?? 0), 0);
      return Math.log(Math.max(fitted / ms, SHARE_MIN)) / ERROR_USUAL;
    });
  };
  const { parameters } = leastSquares(residuals, { start: prior.map(Math.log), deviation: PRIOR_DEVIATION });
  const found = parameters.map(Math.exp);
  const batches = rows.map(({ calls }) => calls);
  const seen = (share: number) => quantile(batches, share);
  const preset = presetOf(base, timesOf(found, prior, seen(0.5)));
  return {
    preset,
    /** Time of a call outside the engine, as far as the gateway sees it. */
    outsideMs: found[6] ?? 0,
    /** Calls in a step up to which the fit can be trusted: as many more than were seen as the seen ones vary. */
    callsMax: 2 * seen(0.95) - seen(0.05),
  };
}

/** A row for each call, in the units of the fitted times, with the mean number of calls that decode meanwhile. */
function rowsOf(calls: readonly Served[], nowMs: number) {
  const phases = calls.map((call) => phasesOf(call, nowMs));
  const prefill = (amountOf: (phases: Phases) => number) =>
    integralOf(phases.map((each) => ({ fromMs: each.dispatchedMs, toMs: each.fromMs, amount: amountOf(each) })));
  const decode = (rateOf: (phases: Phases) => number) =>
    integralOf(phases.map((each) => ({ ...each, amount: (each.toMs - each.fromMs) * rateOf(each) })));
  const prompts = prefill(() => 1);
  const prompt = prefill(({ computed }) => computed);
  const pairs = prefill(({ computed, promptTokens }) => computed * (promptTokens - computed / 2));
  const batch = decode(() => 1);
  const context = decode(({ promptTokens, outputTokens }) => promptTokens + outputTokens / 2);
  return calls.flatMap(({ dispatchedMs, endedMs, outputTokens }) => {
    const ms = endedMs - dispatchedMs;
    if (!(ms > 0)) return [];
    const within = (each: Until) => each(endedMs) - each(dispatchedMs);
    const steps = outputTokens + HALF;
    const means = [batch, context].map((each) => (steps / ms) * within(each));
    const terms = [steps, ...means, within(prompt), within(pairs), -within(prompts), 1];
    return [{ terms, ms, calls: within(batch) / ms }];
  });
}

type Phases = ReturnType<typeof phasesOf>;

/** A call, whose prompt is computed from its dispatch on, and whose answer comes from one time to the other. */
function phasesOf(call: Served, nowMs: number) {
  const { dispatchedMs, firstTokenMs, endedMs, promptTokens, cachedTokens } = call;
  const toMs = Number.isNaN(endedMs) ? nowMs : endedMs;
  const isTold = firstTokenMs - dispatchedMs < BURST_SHARE * (toMs - dispatchedMs);
  const fromMs = isTold ? firstTokenMs : dispatchedMs + PREFILL_SHARE * (toMs - dispatchedMs);
  return { ...call, fromMs, toMs, computed: Math.max(1, promptTokens - cachedTokens) };
}

/**
 * A small step is bound by memory, so that reading the weights hides its arithmetic. That of the most `calls` seen in
 * a step is in the found times already, and bounds what is hidden.
 */
function timesOf(found: readonly number[], prior: readonly number[], calls: number) {
  const [fixed = 0, sequence = 0, context = 0, prompt = 0, pairs = 0, hidden = 0] = found.map((time, at) =>
    Math.max(time, 1e-3 * (prior[at] ?? 0)),
  );
  const weights = Math.min(fixed, hidden + prompt * calls);
  return {
    prefillToken: prompt,
    // Beyond this, attention in decode would be slower than was found.
    attentionPair: Math.min(pairs, context),
    weights,
    contextToken: context,
    step: fixed - weights,
    sequence,
    request: 0,
  };
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(share * values.length)] ?? NaN;

/** Least length of a span: nothing is seen in no time, but its part of a longer span counts. */
const MS_MIN = 1e-3;

type Until = (ms: number) => number;

/** The integral of the rates at which amounts spread evenly, up to each time. */
function integralOf(spreads: readonly Readonly<Record<'fromMs' | 'toMs' | 'amount', number>>[]): Until {
  const changes = spreads.flatMap(({ fromMs, toMs, amount }) => {
    const endMs = Math.max(toMs, fromMs + MS_MIN);
    const rate = amount / (endMs - fromMs);
    return [
      { atMs: fromMs, rate },
      { atMs: endMs, rate: -rate },
    ];
  });
  changes.sort((a, b) => a.atMs - b.atMs);
  const times = Float64Array.from(changes, ({ atMs }) => atMs);
  // Up to each time, and the rate from then on.
  const sums = new Float64Array(changes.length);
  const rates = new Float64Array(changes.length);
  let [sum, rate, beforeMs] = [0, 0, changes[0]?.atMs ?? 0];
  changes.forEach((change, at) => {
    sum += rate * (change.atMs - beforeMs);
    rate += change.rate;
    beforeMs = change.atMs;
    sums[at] = sum;
    rates[at] = rate;
  });
  return (ms) => {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] ?? Infinity) <= ms) low = middle + 1;
      else high = middle;
    }
    const at = low - 1;
    return at < 0 ? 0 : (sums[at] ?? 0) + (rates[at] ?? 0) * (ms - (times[at] ?? 0));
  };
}
