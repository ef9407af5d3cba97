import { setTimeout as sleep } from 'node:timers/promises';
import type { Preset } from '../engine/presets.js';
import { Dice } from '../../workloads/index.js';
import { errorsOf, fit, type PresetFit, type RelativeErrors, type Group, type Measured } from './fit.js';
import { fittingPlan, testPlan, type Plan, type PlanLimits } from './plan.js';
import { Server, ServerError, type ServerFacts, type ServerOptions } from './server.js';

export interface CalibrationOptions extends ServerOptions {
  /** Absent: the first model that the server lists. */
  readonly model?: string | undefined;
  /** Start of the fit, and the source of all values that timings do not determine. */
  readonly base: Preset;
  /** Most requests at a time; at most the slots of `base`. */
  readonly concurrency: number;
  /** Longest prompt in tokens, if the server accepts it. */
  readonly promptTokens: number;
  /** Ends the calibration early. */
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface Calibration extends PresetFit {
  readonly model: string;
  /** Requests sent. */
  readonly requests: number;
  /** Errors on requests held out from the fit. */
  readonly testErrors: RelativeErrors;
}

/**
 * Share of the context that prompts may take. The rest is for answers, and because lengths are only met approximately.
 */
const PROMPT_SHARE = 0.8;
const WORDS_FIRST = 200;

/**
 * Fits a preset's constants to streamed answers of a real, otherwise idle server. Sends about 70 requests, with prompts
 * that are in no cache.
 * @throws ServerError when the server cannot be measured, and the signal's reason
 */
export async function calibrate(options: CalibrationOptions): Promise<Calibration> {
  // If one request fails, the others are aborted too.
  const end = new AbortController();
  const signal = AbortSignal.any([options.signal, end.signal]);
  const server = new Server(options, signal);
  try {
    const facts = await server.facts(options.model);
    const meter = await Meter.start(server, facts.model, signal);
    return await measureAndFit(meter, facts, options);
  } finally {
    end.abort();
    await server.close();
  }
}

async function measureAndFit(meter: Meter, facts: ServerFacts, options: CalibrationOptions): Promise<Calibration> {
  const base = baseOf(options.base, facts);
  const concurrencyMax = Math.min(options.concurrency, base.slots);
  const room = PROMPT_SHARE * Math.min(base.maxModelLen, base.kvTokens / concurrencyMax);
  const limits: PlanLimits = { concurrencyMax, promptTokensMax: Math.floor(Math.min(options.promptTokens, room)) };
  const plan = fittingPlan(limits);
  const test = testPlan(limits, meter.tokenMs, new Dice(1));
  const progress = (done: number) => options.onProgress?.(done, plan.length + test.length);
  const fitted = fit(base, await meter.measure(plan, progress));
  const tests = await meter.measure(test, (done) => progress(plan.length + done));
  const testErrors = errorsOf(fitted.preset, fitted.times.request.ms, tests);
  return { ...fitted, model: facts.model, requests: meter.requests, testErrors };
}

function baseOf(base: Preset, { model, maxModelLen, kvTokens }: ServerFacts): Preset {
  const cache = kvTokens ?? base.kvTokens;
  return { ...base, model, kvTokens: cache, maxModelLen: Math.min(maxModelLen ?? base.maxModelLen, cache) };
}

/** Sends groups of requests and notes their times. */
class Meter {
  requests = 0;
  /** Time between the tokens of a lone answer. */
  tokenMs = 0;
  #tokensPerWord = 1;

  private constructor(
    private readonly server: Server,
    private readonly model: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Measures the tokens in a word, and warms the server up. */
  static async start(server: Server, model: string, signal: AbortSignal): Promise<Meter> {
    const meter = new Meter(server, model, signal);
    for (const outputTokens of [1, 32]) {
      const answer = await meter.#ask(WORDS_FIRST, outputTokens);
      if (answer.promptTokens < 1) throw new ServerError('it counts no prompt tokens');
      meter.#tokensPerWord = answer.promptTokens / WORDS_FIRST;
      meter.tokenMs = (answer.endMs - answer.firstTokenMs) / Math.max(1, answer.outputTokens - 1);
    }
    return meter;
  }

  async measure(plan: Plan, onProgress: (done: number) => void): Promise<Group[]> {
    const groups: Group[] = [];
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

  #ask(words: number, outputTokens: number) {
    this.requests += 1;
    return this.server.complete(this.model, nonsense(words), outputTokens);
  }
}

/** Words with a beginning that no prompt has had before. */
function nonsense(words: number): string {
  return Array.from({ length: words }, () => Math.random().toString(36).slice(2, 6)).join(' ');
}
