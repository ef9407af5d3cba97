import { isDeepStrictEqual } from 'node:util';
import { CONFIG_KEYS } from './keys.js';
import { deepFreeze } from './load.js';
import type { Config } from './schema.js';

/** `next` with the current values of keys that need a restart, and the paths of those whose change must wait. */
export function keepRestartKeys(current: Config, next: Config): { config: Config; waiting: readonly string[] } {
  const config = structuredClone(next);
  const waiting: string[] = [];
  for (const { path, segments } of CONFIG_KEYS.filter(({ note }) => note.restart)) {
    const kept = valueAt(current, segments);
    if (isDeepStrictEqual(kept, valueAt(config, segments))) continue;
    const holder = valueAt(config, segments.slice(0, -1)) as Record<string, unknown>;
    holder[segments.at(-1) ?? ''] = kept;
    waiting.push(path);
  }
  return { config: deepFreeze(config), waiting };
}

function valueAt(config: Config, segments: readonly string[]): unknown {
  return segments.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], config);
}
