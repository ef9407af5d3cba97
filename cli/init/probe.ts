import { ConfigError, type EngineConfig } from '../../sidecar/config/index.js';
import { examine, NotAnEngine } from '../../sidecar/engines/examine.js';
import { reasonOf } from '../../sidecar/errors.js';

const TIMEOUT_MS = 3000;

/** Result of a first look at an engine. */
type Probed =
  | { readonly kind: Exclude<EngineConfig['kind'], 'auto'>; readonly models: readonly string[]; readonly capacityTokens: number | undefined } // prettier-ignore
  | { readonly reason: string };

/** Asks an engine for its kind, its models and its KV capacity. @throws ConfigError if it is a gateway */
export async function probe(engine: EngineConfig): Promise<Probed> {
  try {
    const { adapter, models, load } = await examine(engine, {
      timeoutMs: TIMEOUT_MS,
      connectMs: TIMEOUT_MS,
      calls: false,
    });
    return { kind: adapter.kind, models: [...(models?.keys() ?? [])], capacityTokens: load.capacityTokens };
  } catch (error) {
    if (error instanceof NotAnEngine) throw new ConfigError([{ path: '', message: error.message }]);
    return { reason: reasonOf(error) };
  }
}

/** One line about what an engine said. */
export function probedText(url: string, probed: Probed): string {
  if ('reason' in probed) return `  ${url}: no answer (${probed.reason})`;
  const capacity = probed.capacityTokens === undefined ? 'KV capacity unknown' : `KV cache of ${probed.capacityTokens} tokens`; // prettier-ignore
  return `  ${url}: ${[probed.kind, ...probed.models.slice(0, 3), capacity].join(', ')}`;
}
