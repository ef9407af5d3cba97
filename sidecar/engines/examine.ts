import type { EngineConfig } from '../config/index.js';
import type { JsonObject } from '../apis/api.js';
import { parseObject } from '../apis/fields.js';
import { setTimer } from '../timer.js';
import { inspect } from './inspect.js';
import { Prober, type ProberOptions } from './prober.js';

/** Time of one request where somebody waits for the result of all of them. */
export const LOOK_MS = 1000;
/** Time of a small call: it may wait behind others. */
const CALL_MS = 30_000;
/** Longer than a block of any engine's prefix cache, which holds only full blocks. */
const PROMPT = 'maitred doctor asks for one token. '.repeat(80);

export type Examination = Awaited<ReturnType<typeof examine>>;

interface ExamineOptions extends Omit<ProberOptions, 'setTimer'> {
  /** Whether to send two calls of one token each, which some flags can be seen by. */
  readonly calls: boolean;
  /** Ends it early, as if the engine broke off. */
  readonly signal?: AbortSignal;
}

/**
 * Probes an engine as the fleet does, and looks for the flags that it lacks.
 * @throws NotAnEngine; Error with the reason if the engine is not healthy
 */
export async function examine(config: EngineConfig, { timeoutMs, connectMs, calls, signal }: ExamineOptions) {
  const prober = new Prober({ config }, { timeoutMs, connectMs, setTimer });
  signal?.addEventListener('abort', () => void prober.close());
  try {
    const { get, ...found } = await inspect(prober, config);
    const { adapter, models } = found;
    const [model] = models?.keys() ?? [];
    const isCalled = adapter.flags !== undefined && calls && model !== undefined;
    const answer = isCalled ? await secondAnswer(prober, model) : undefined;
    const hostTier = await adapter.hostTier?.(get);
    return { ...found, hostTier, flags: (await adapter.flags?.(get, answer)) ?? [] };
  } finally {
    await prober.close();
  }
}

/** Only the second of two equal calls finds its prompt cached. */
async function secondAnswer(prober: Prober, model: string): Promise<JsonObject | undefined> {
  const call = { model, prompt: PROMPT, max_tokens: 1, temperature: 0 };
  const ask = () => prober.ask('/v1/completions', call, CALL_MS).catch(() => undefined);
  if ((await ask())?.status !== 200) return undefined;
  return parseObject((await ask())?.text);
}
