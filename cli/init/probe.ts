import type { EngineConfig } from '../../sidecar/config/schema.js';
import { inspect } from '../../sidecar/engines/inspect.js';
import { Prober } from '../../sidecar/engines/prober.js';

const TIMEOUT_MS = 3000;

/** Result of a first look at an engine. */
export type Probed =
  | { readonly kind: Exclude<EngineConfig['kind'], 'auto'>; readonly models: readonly string[]; readonly capacityTokens: number | undefined } // prettier-ignore
  | { readonly reason: string };

/** Asks an engine for its kind, its models and its KV capacity. Never throws. */
export async function probe(engine: EngineConfig): Promise<Probed> {
  const url = new URL(engine.url);
  const prober = new Prober({
    url,
    basePath: url.pathname.replace(/\/+$/, ''),
    apiKey: engine.apiKey,
    timeoutMs: TIMEOUT_MS,
    connectMs: TIMEOUT_MS,
    setTimer: (callback, ms) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
  try {
    const { adapter, models, load } = await inspect(prober, engine);
    return { kind: adapter.kind, models: [...(models ?? new Map<string, unknown>()).keys()], capacityTokens: load.capacityTokens }; // prettier-ignore
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { reason: message || (code ?? 'no answer') };
  } finally {
    await prober.close();
  }
}
