import type { Preset } from '../engine/presets.js';
import { presetOf } from './fit.js';
import { Integral } from './integral.js';

/** One call of an engine's usual traffic. Times are milliseconds of one clock; NaN: not known. */
export interface Served {
  readonly dispatchedMs: number;
  /** NaN for calls that do not stream. */
  readonly firstTokenMs: number;
  /** NaN while it runs. */
  readonly endedMs: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

export interface TrafficFit {
  readonly preset: Preset;
  /** Time of a call outside the engine, as far as the gateway sees it. */
  readonly outsideMs: number;
  /** Calls in a step up to which the fit can be trusted: as many more than were seen as the seen ones vary. */
  readonly callsMax: number;
}

const CALLS_MIN = 20;
/** A call waits for half of the step under way. */
const HALF = 0.5;
/** Prior weights of the times, in calls; their prior values are rough. */
const PRIOR_CALLS = 1e-5;
/** Errors beyond this share count linearly, so that outliers do not dominate. */
const ERROR_USUAL = 0.2;
/** The usual time of a call is at least this share of the measured one: it must be above zero. */
const USUAL_SHARE_MIN = 0.1;
const ROUNDS = 4;
const SWEEPS = 5000;
/** A first token after this share of the call's time may be that of an answer in one burst, and tells nothing. */
const BURST_SHARE = 0.5;
/** Share of the call's time in which it is then taken to compute its prompt. */
const PREFILL_SHARE = 0.1;

/** What calls take: each row is the time of one, in the units of `solve`'s unknowns. */
interface Row {
  readonly terms: readonly number[];
  readonly ms: number;
  /** Mean number of calls that decode meanwhile. */
  readonly calls: number;
}

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
export function fitTraffic(
  base: Preset,
  engines: readonly (readonly Served[])[],
  nowMs: number,
): TrafficFit | undefined {
  const rows = engines.flatMap((calls) => rowsOf(calls, nowMs));
  if (rows.length < CALLS_MIN) return undefined;
  const stepMs = quantile(
    rows.map(({ terms, ms }) => ms / (terms[0] ?? NaN)),
    0.1,
  );
  const prior = [stepMs, stepMs / 200, stepMs / 20_000, stepMs / 100, stepMs / 1e6, stepMs / 2, stepMs];
  const found = solve(rows, prior);
  const batches = rows.map(({ calls }) => calls);
  const seen = (share: number) => quantile(batches, share);
  const preset = presetOf(base, timesOf(found, prior, seen(0.5)));
  return { preset, outsideMs: found[6] ?? 0, callsMax: 2 * seen(0.95) - seen(0.05) };
}

function rowsOf(calls: readonly Served[], nowMs: number): Row[] {
  const phases = calls.map((call) => phasesOf(call, nowMs));
  const prefill = (amountOf: (phases: Phases) => number) =>
    new Integral(phases.map((each) => ({ fromMs: each.dispatchedMs, toMs: each.fromMs, amount: amountOf(each) })));
  const decode = (rateOf: (phases: Phases) => number) =>
    new Integral(phases.map((each) => ({ ...each, amount: (each.toMs - each.fromMs) * rateOf(each) })));
  const prompts = prefill(() => 1);
  const prompt = prefill(({ computed }) => computed);
  const pairs = prefill(({ computed, promptTokens }) => computed * (promptTokens - computed / 2));
  const batch = decode(() => 1);
  const context = decode(({ promptTokens, outputTokens }) => promptTokens + outputTokens / 2);
  return calls.flatMap(({ dispatchedMs, endedMs, outputTokens }) => {
    const ms = endedMs - dispatchedMs;
    if (!(ms > 0)) return [];
    const within = (each: Integral) => each.between(dispatchedMs, endedMs);
    const steps = outputTokens + HALF;
    const means = [batch, context].map((each) => (steps / ms) * within(each));
    const terms = [steps, ...means, within(prompt), within(pairs), -within(prompts), 1];
    return [{ terms, ms, calls: within(batch) / ms }];
  });
}

/** A call, whose prompt is computed from its dispatch on, and whose answer comes from one time to the other. */
interface Phases extends Served {
  readonly fromMs: number;
  readonly toMs: number;
  /** Prompt tokens that were not cached. */
  readonly computed: number;
}

function phasesOf(call: Served, nowMs: number): Phases {
  const { dispatchedMs, firstTokenMs, endedMs, promptTokens, cachedTokens } = call;
  const toMs = Number.isNaN(endedMs) ? nowMs : endedMs;
  const isTold = firstTokenMs - dispatchedMs < BURST_SHARE * (toMs - dispatchedMs);
  const fromMs = isTold ? firstTokenMs : dispatchedMs + PREFILL_SHARE * (toMs - dispatchedMs);
  return { ...call, fromMs, toMs, computed: Math.max(1, promptTokens - cachedTokens) };
}

const timeOf = ({ terms }: Row, times: readonly number[]): number =>
  terms.reduce((sum, term, at) => sum + term * (times[at] ?? 0), 0);

/** The times, none below zero, with the least squares of relative errors: by coordinate descent, reweighted. */
function solve(rows: readonly Row[], prior: readonly number[]): number[] {
  const found = [...prior];
  for (let round = 0; round < ROUNDS; round += 1) {
    const normal = prior.map(() => prior.map(() => 0));
    const right = prior.map(() => 0);
    for (const row of rows) {
      // Relative to what was measured, short times by chance would count most, and make all times too short.
      const usualMs = round === 0 ? row.ms : Math.max(timeOf(row, found), USUAL_SHARE_MIN * row.ms);
      const share = row.ms / usualMs;
      const weight = Math.min(1, ERROR_USUAL / Math.abs(share - 1));
      // In units of the prior, so that its weight is the same for all times.
      const scaled = row.terms.map((term, at) => (term * (prior[at] ?? 0)) / usualMs);
      scaled.forEach((a, i) => {
        right[i] = (right[i] ?? 0) + weight * share * a;
        const line = normal[i] as number[];
        scaled.forEach((b, j) => (line[j] = (line[j] ?? 0) + weight * a * b));
      });
    }
    const scaled = found.map((time, at) => time / (prior[at] ?? 1));
    for (let sweep = 0; sweep < SWEEPS; sweep += 1)
      for (let i = 0; i < scaled.length; i += 1) {
        const line = normal[i] as number[];
        const others = line.reduce((sum, value, j) => (j === i ? sum : sum + value * (scaled[j] ?? 0)), 0);
        scaled[i] = Math.max(0, ((right[i] ?? 0) + PRIOR_CALLS - others) / ((line[i] ?? 0) + PRIOR_CALLS));
      }
    scaled.forEach((value, at) => (found[at] = value * (prior[at] ?? 1)));
  }
  return found;
}

/**
 * In the engine model, reading the weights hides the arithmetic of as many tokens as take no longer. `calls` in a step
 * have been seen, whose arithmetic is in the found times already.
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
