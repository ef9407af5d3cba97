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
const QUESTION = 'maitred doctor asks for one token. ';
/** Longer than a block of any engine's prefix cache, which holds only full blocks. */
const PROMPT = QUESTION.repeat(80);

export type Examination = Awaited<ReturnType<typeof examine>>;

interface ExamineOptions extends Omit<ProberOptions, 'setTimer'> {
  /** Whether to send calls of one token: one, and where its answer shows flags, another. */
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
    const called = calls && model !== undefined ? await tryCall(prober, model, adapter.flags !== undefined) : undefined;
    const hostTier = await adapter.hostTier?.(get);
    return { ...found, listed, unlisted, called, hostTier, flags: (await adapter.flags?.(get, called?.answer)) ?? [] };
  } finally {
    await prober.close();
  }
}

/**
 * A small call. Only the second of two equal ones finds its prompt cached.
 * @returns with the status of the first, undefined: no answer; whether it is answered; and the last answer
 */
async function tryCall(prober: Prober, model: string, hasFlags: boolean) {
  // A model may lack a template for chats; a proxy has no other calls.
  const [path, content] = hasFlags
    ? ['/v1/completions', { prompt: PROMPT }]
    : ['/v1/chat/completions', { messages: [{ role: 'user', content: QUESTION }] }];
  const ask = () =>
    prober.ask(path, { model, ...content, max_tokens: 1, temperature: 0 }, CALL_MS).catch(() => undefined);
  const first = await ask();
  const isAnswered = Array.isArray(parseObject(first?.text)?.['choices']);
  const answer = hasFlags && isAnswered ? parseObject((await ask())?.text) : undefined;
  return { model, path, status: first?.status, isAnswered, answer };
}
