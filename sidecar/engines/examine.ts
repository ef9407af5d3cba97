import type { EngineConfig } from '../config/index.js';
import { parseObject } from '../apis/fields.js';
import { setTimer } from '../timer.js';
import { CONFIGURED, inspect } from './inspect.js';
import { MODELS_PATH, readModels } from './models.js';
import { Prober, type ProberOptions } from './prober.js';

/** Time of one request where somebody waits for the result of all of them. */
export const LOOK_MS = 1000;
/** Time of a small call: it may wait behind others. */
const CALL_MS = 30_000;
export const CALL_PATH = '/v1/completions';
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
    const listed = [...(readModels(await get(MODELS_PATH))?.keys() ?? [])];
    const unlisted = [...(models ?? [])].flatMap(([id, entry]) => (entry['owned_by'] === CONFIGURED ? [id] : []));
    const model = unlisted[0] ?? models?.keys().next().value;
    // A proxy may serve models that it does not list, and no completions.
    const isCalled =
      calls &&
      model !== undefined &&
      (adapter.flags !== undefined || (unlisted.length > 0 && adapter.kind !== 'openai'));
    const called = isCalled ? { model, ...(await secondAnswer(prober, model)) } : undefined;
    const hostTier = await adapter.hostTier?.(get);
    return { ...found, listed, unlisted, called, hostTier, flags: (await adapter.flags?.(get, called?.answer)) ?? [] };
  } finally {
    await prober.close();
  }
}

/** Only the second of two equal calls finds its prompt cached. @returns the status of the first; undefined: no answer */
async function secondAnswer(prober: Prober, model: string) {
  const call = { model, prompt: PROMPT, max_tokens: 1, temperature: 0 };
  const ask = () => prober.ask(CALL_PATH, call, CALL_MS).catch(() => undefined);
  const status = (await ask())?.status;
  return { status, answer: status === 200 ? parseObject((await ask())?.text) : undefined };
}
