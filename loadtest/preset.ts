import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorsOf, fitPreset, type Measured, type Preset, type PresetFit, type RelativeErrors } from '../sim/index.js';
import { Dice } from '../workloads/index.js';
import { LoadError } from './load.js';
import { isBadRequest, readModels } from './preflight.js';
import { Target } from './target.js';

export interface CalibrationOptions {
  readonly target: string;
  /** Whether the user states that they own it, whatever its address. */
  readonly ownsTarget: boolean;
  readonly apiKey?: string | undefined;
  /** Absent: the first model that the server lists. */
  readonly model?: string | undefined;
  /** Start of the fit, and the source of all values that timings do not determine. */
  readonly base: Preset;
  /** Most requests at a time; at most the slots of `base`. */
  readonly concurrency: number;
  /** Longest prompt in tokens, if the server accepts it. */
  readonly promptTokens: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface Calibration extends PresetFit {
  readonly model: string;
  readonly requests: number;
  /** Errors on requests held out from the fit. */
  readonly testErrors: RelativeErrors;
}

/**
 * Share of the context that prompts may take. The rest is for answers, and because lengths are only met approximately.
 */
const PROMPT_SHARE = 0.8;
const WORDS_FIRST = 200;
const ANSWER_MS_MAX = 120_000;
const METRICS_MS_MAX = 10_000;

/**
 * Fits a preset's constants to streamed answers of a real, otherwise idle server. Sends about 70 requests, with prompts
 * that are in no cache.
 * @throws LoadError when the server cannot be measured, and the signal's reason
 */
export async function calibratePreset(options: CalibrationOptions): Promise<Calibration> {
  const { apiKey, ownsTarget: ownsTargets, base } = options;
  const terms = { api: 'completions', stream: true, apiKey, timeoutMs: ANSWER_MS_MAX, ownsTargets } as const;
  const target = await Target.open(options.target, terms);
  // If one request fails, the others are aborted too.
  const end = new AbortController();
  const signal = AbortSignal.any([options.signal, end.signal]);
  // Each request at a time listens; Node.js would warn of a leak at more than ten.
  setMaxListeners(0, signal);
  try {
    const { model, maxModelLen } = await readModels(target, options.model, ANSWER_MS_MAX, signal);
    const kvTokens = (await kvTokensOf(target, signal)) ?? base.kvTokens;
    const meter = new Meter(target, model, signal);
    await meter.start();
    return await measureAndFit(
      meter,
      { ...base, model, kvTokens, maxModelLen: Math.min(maxModelLen ?? base.maxModelLen, kvTokens) },
      options,
    );
  } finally {
    end.abort();
    await target.close();
  }
}

async function measureAndFit(meter: Meter, base: Preset, options: CalibrationOptions): Promise<Calibration> {
  const concurrencyMax = Math.min(options.concurrency, base.slots);
  const room = PROMPT_SHARE * Math.min(base.maxModelLen, base.kvTokens / concurrencyMax);
  const limits: PlanLimits = { concurrencyMax, promptTokensMax: Math.floor(Math.min(options.promptTokens, room)) };
  const plan = fittingPlan(limits);
  const test = testPlan(limits, meter.tokenMs, new Dice(1));
  const progress = (done: number) => options.onProgress?.(done, plan.length + test.length);
  const fitted = fitPreset(base, await meter.measure(plan, progress));
  const tests = await meter.measure(test, (done) => progress(plan.length + done));
  const testErrors = errorsOf(fitted.preset, fitted.times.request.ms, tests);
  return { ...fitted, model: base.model, requests: meter.requests, testErrors };
}

/** Capacity of its KV cache in tokens, from vLLM's metrics; undefined without them, or without an answer. */
async function kvTokensOf(target: Target, signal: AbortSignal): Promise<number | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(METRICS_MS_MAX)]);
  const answer = await target.json('GET', '/metrics', undefined, limit).catch(() => undefined);
  signal.throwIfAborted();
  const { status, text = '' } = answer ?? {};
  const info = /^vllm:cache_config_info\{(.*)\}/m.exec(text)?.[1] ?? '';
  const label = (name: string) => Number(new RegExp(`(?:^|,)${name}="(\\d+)"`).exec(info)?.[1]);
  // vLLM's null block holds no tokens.
  const tokens = label('block_size') * (label('num_gpu_blocks') - 1);
  return status === 200 && tokens > 0 ? tokens : undefined;
}

class Meter {
  requests = 0;
  tokenMs = 0;
  #tokensPerWord = 1;
  /** Whether the server knows the fields that fix the length of answers. */
  #isExact = true;

  constructor(
    private readonly target: Target,
    private readonly model: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Measures the tokens in a word, and warms the server up. */
  async start(): Promise<void> {
    for (const outputTokens of [1, 32]) {
      const answer = await this.#ask(WORDS_FIRST, outputTokens);
      this.#tokensPerWord = answer.promptTokens / WORDS_FIRST;
      this.tokenMs = (answer.endMs - answer.firstTokenMs) / Math.max(1, answer.outputTokens - 1);
    }
  }

  async measure(plan: Plan, onProgress: (done: number) => void): Promise<Measured[][]> {
    const groups: Measured[][] = [];
    for (const requests of plan) {
      const startedAt = performance.now();
      const group = requests.map(async ({ afterMs, promptTokens, outputTokens }): Promise<Measured> => {
        if (afterMs > 0) await sleep(afterMs, undefined, { signal: this.signal });
        const sentMs = performance.now() - startedAt;
        const words = Math.max(1, Math.round(promptTokens / this.#tokensPerWord));
        return { sentMs, ...(await this.#ask(words, outputTokens)) };
      });
      groups.push(await Promise.all(group));
      onProgress(groups.length);
    }
    return groups;
  }

  async #ask(words: number, outputTokens: number): Promise<Omit<Measured, 'sentMs'>> {
    const { target, model, signal } = this;
    this.requests += 1;
    const items = [target.api.item({ role: 'user', text: nonsense(words), isPlain: true })];
    const isExact = this.#isExact;
    const body = target.api.body({ model, items, tools: [], outputTokens, isExact, stream: true, fields: {} });
    const sentAt = performance.now();
    const outcome = await target.ask(body, {}, signal);
    if (isExact && isBadRequest(outcome)) {
      this.#isExact = false;
      return this.#ask(words, outputTokens);
    }
    const { answer, detail, endedAt, firstTokenAt } = outcome;
    if (outcome.outcome !== 'completed') throw new LoadError(`${target.url}${target.api.path}: ${detail}`);
    if (!(answer.promptTokens >= 1 && answer.outputTokens >= 1 && firstTokenAt > 0))
      throw new LoadError(`${target.url} sent an answer without tokens or without its usage`);
    return {
      promptTokens: answer.promptTokens,
      outputTokens: answer.outputTokens,
      firstTokenMs: firstTokenAt - sentAt,
      endMs: endedAt - sentAt,
    };
  }
}

/** Words with a beginning that no prompt has had before. */
const nonsense = (words: number): string =>
  Array.from({ length: words }, () => Math.random().toString(36).slice(2, 6)).join(' ');

/** Groups of requests; each group begins when the one before it has ended. */
export type Plan = readonly (readonly Readonly<Record<'afterMs' | 'promptTokens' | 'outputTokens', number>>[])[];

type PlanLimits = Readonly<Record<'promptTokensMax' | 'concurrencyMax', number>>;

const PREFILL_SHARES = [0.005, 0.015, 0.04, 0.1, 0.25, 0.5, 1];
const ROUNDS = 3;
const SHORT_TOKENS = 32;
const DECODED_TOKENS = 48;

/** The measurements for the fit: prefill by length, decode by concurrency, and decode by context. */
export function fittingPlan({ promptTokensMax, concurrencyMax }: PlanLimits): Plan {
  const together = (count: number, promptTokens: number, outputTokens = DECODED_TOKENS) =>
    Array.from({ length: count }, () => ({ afterMs: 0, promptTokens, outputTokens }));
  const prefill = PREFILL_SHARES.map((share) => together(1, Math.max(8, Math.round(share * promptTokensMax)), 1));
  const counts = [1, 2, 4, 8, 16, 32].filter((count) => count < concurrencyMax).concat(concurrencyMax);
  const decode = counts.map((count) => together(count, SHORT_TOKENS));
  const half = Math.round(promptTokensMax / 2);
  const context = [together(1, half), together(1, promptTokensMax), together(Math.min(4, concurrencyMax), half)];
  // Lengths alternate in rounds, so that a slow minute of the machine does not fall on one length alone.
  return Array.from({ length: ROUNDS }, (_, round) => [...prefill, ...(round === 0 ? [] : decode), ...context]).flat();
}

/** The measurements that test the fit: requests of all sizes that arrive while others run, within the limits. */
export function testPlan({ promptTokensMax, concurrencyMax }: PlanLimits, tokenMs: number, dice: Dice): Plan {
  return Array.from({ length: 3 }, () =>
    Array.from({ length: concurrencyMax }, () => ({
      afterMs: dice.share() * 2 * DECODED_TOKENS * tokenMs,
      promptTokens: dice.int(SHORT_TOKENS, Math.max(SHORT_TOKENS, Math.round(promptTokensMax / 2))),
      outputTokens: dice.int(DECODED_TOKENS / 4, DECODED_TOKENS),
    })),
  );
}
