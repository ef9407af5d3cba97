import type { ENGINE_KINDS } from '../config/schema.js';
import type { EngineReported, Usage } from '../../src/index.js';

export type EngineKind = Exclude<(typeof ENGINE_KINDS)[number], 'auto'>;

/** What one scrape of an engine says. Absent: the engine does not tell. */
export interface LoadReport extends Omit<EngineReported, 'type' | 'engine'> {
  readonly running?: number;
  readonly capacityTokens?: number;
  /** The engine's own limit on running requests. */
  readonly windowMax?: number;
}

/** A GET of an engine's path, as text: `undefined` when it answers anything but 2xx. */
export type Get = (path: string) => Promise<string | undefined>;

/**
 * Answers the question "how does this server say what every engine has?".
 * One file an engine; stateless; nothing outside the folder knows an engine's field names.
 */
export interface EngineAdapter {
  readonly kind: EngineKind;
  /** Whether the server behind `get` is of this kind. */
  recognise(get: Get): Promise<boolean>;
  /** Path whose 2xx means "healthy". */
  readonly healthPath: string;
  /** Load and capacity as the engine reports them now; `{}` when it has nothing to say. */
  readLoad(get: Get): Promise<LoadReport>;
  /** Body fields that carry the queue's priority to the engine's own scheduler; `{}` when it has none. 0 is the first of `levels` queues. */
  priorityFields(level: number, levels: number, path: string): Readonly<Record<string, unknown>>;
  /** Engine-side times found in a parsed answer or last usage chunk, in milliseconds. */
  readTimings(answer: Readonly<Record<string, unknown>>): { readonly serviceMs?: number; readonly queueMs?: number };
  /** Extra usage fields that this engine names differently from OpenAI's. */
  readUsage?(answer: Readonly<Record<string, unknown>>): Usage | undefined;
  /** Path and body of an explicit abort for an engine slow to see a closed connection; absent: closing it is enough. */
  abort?(requestId: string): { readonly path: string; readonly body: string };
}
