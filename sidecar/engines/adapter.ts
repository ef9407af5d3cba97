import type { JsonObject } from '../apis/api.js';
import type { ENGINE_KINDS } from '../config/schema.js';
import type { EngineReported, Usage } from '../../src/index.js';

export type EngineKind = Exclude<(typeof ENGINE_KINDS)[number], 'auto'>;

/** What one scrape of an engine says. Absent: the engine does not tell. */
export interface LoadReport extends Omit<EngineReported, 'type' | 'engine'> {
  readonly running?: number;
  readonly capacityTokens?: number;
  /** Longest prompt and answer together. */
  readonly contextTokensMax?: number;
  /** The engine's own limit on running requests. */
  readonly windowMax?: number;
}

/** Engine-side times of one call, in milliseconds. Absent: the engine does not tell. */
export interface Timings {
  readonly serviceMs?: number;
  readonly queueMs?: number;
}

/** A GET of an engine's path, as text: `undefined` when it answers anything but 2xx, or not in time. Never rejects. */
export type Get = (path: string) => Promise<string | undefined>;

/**
 * Answers the question "how does this server say what every engine has?".
 * One file an engine; stateless; nothing outside the folder knows an engine's field names.
 */
export interface EngineAdapter {
  readonly kind: EngineKind;
  /** Whether the server behind `get` is of this kind. */
  recognise(get: Get): Promise<boolean>;
  /** This adapter as the very server needs it, by its version or flags; absent: all servers of the kind are alike. */
  fit?(get: Get): Promise<EngineAdapter>;
  /** Path whose 2xx means "healthy". */
  readonly healthPath: string;
  /** Load and capacity as the engine reports them now; `{}` when it has nothing to say. */
  readLoad(get: Get): Promise<LoadReport>;
  /** Further names the engine takes for a model that it lists as `model`; absent: none. */
  aliases?(model: string): readonly string[];
  /** Body fields that carry the queue's priority to the engine's own scheduler; `{}` when it has none. 0 is the first of `levels` queues; `path` has no query. */
  priorityFields(level: number, levels: number, path: string): JsonObject;
  /** Times found in a parsed answer or last usage chunk. */
  readTimings(answer: JsonObject): Timings;
  /** Usage, where this engine names it differently from OpenAI; `undefined` when the answer has none. */
  readUsage?(answer: JsonObject): Usage | undefined;
  /** An explicit abort, for an engine slow to see a closed connection; absent: closing it is enough. */
  readonly abort?: Abort;
}

/** Request ids must be unique for each attempt of a call, and of one length: SGLang aborts by prefix. */
export interface Abort {
  /** Body fields that make the request known to the engine by this id. */
  fields(requestId: string, path: string): JsonObject;
  /** POST this to stop it. */
  request(requestId: string): { readonly path: string; readonly body: string };
}
