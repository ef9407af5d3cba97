import type { EngineConfig } from '../../sidecar/config/index.js';
import { examine } from '../../sidecar/engines/examine.js';

const TIMEOUT_MS = 3000;

/** Result of a first look at an engine. */
export type Probed =
  | { readonly kind: Exclude<EngineConfig['kind'], 'auto'>; readonly models: readonly string[]; readonly capacityTokens: number | undefined } // prettier-ignore
  | { readonly reason: string };

/** Asks an engine for its kind, its models and its KV capacity. Never throws. */
export async function probe(engine: EngineConfig): Promise<Probed> {
  try {
    const { adapter, models, load } = await examine(engine, {
      timeoutMs: TIMEOUT_MS,
      connectMs: TIMEOUT_MS,
      calls: false,
    });
    return { kind: adapter.kind, models: [...(models?.keys() ?? [])], capacityTokens: load.capacityTokens };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { reason: message || (code ?? 'no answer') };
  }
}
