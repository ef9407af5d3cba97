import type { Problem } from '../../plans/index.js';
import { SCHEDULED } from '../../sidecar/apis/index.js';
import { ConfigError } from '../../sidecar/config/index.js';

/** Paths of calls that lines may make. */
export const URLS: ReadonlySet<string> = new Set(SCHEDULED.keys());
/** Far above any batch: the machine's memory is the limit. */
export const LIMITS = { linesMax: 1_000_000, lineBytes: 33_554_432 };

/** @throws ConfigError */
export function fail(file: string, problems: readonly Problem[]): never {
  throw new ConfigError(
    problems.map(({ line, message }) => ({ path: '', message, origin: line === null ? file : `${file}:${line}` })),
  );
}
