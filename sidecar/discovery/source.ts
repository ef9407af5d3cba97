import type { EngineConfig } from '../config/index.js';
import type { SetTimer } from '../engines/index.js';

/**
 * A place that knows engines: a DNS name, or a Service. It looks again and again on its own. Every look ends in
 * one `found` with all engines that it knows now, changed or not, or in one `failed`; then it looks again soon.
 */
export interface Source {
  /** Ends its looks. Nothing is reported afterwards. */
  close(): void;
}

export interface SourcePorts {
  /** @param leaving engines that are known to be shutting down */
  readonly found: (engines: readonly EngineConfig[], leaving?: readonly EngineConfig[]) => void;
  /** The look came to nothing. The engines found before stay. */
  readonly failed: (reason: string) => void;
  readonly setTimer: SetTimer;
}

/** Waits between failed looks double from here, in milliseconds. */
const BACKOFF_MS = 1000;

/** Wait before the next look after `failures` failed ones in a row: half of it by chance, so that gateways spread. */
export function backoffMs(failures: number, msMax: number): number {
  const ms = Math.min(BACKOFF_MS * 2 ** (failures - 1), msMax);
  return ms * (0.5 + Math.random() / 2);
}
