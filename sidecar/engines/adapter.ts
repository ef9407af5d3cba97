import type { JsonObject } from '../apis/api.js';
import type { ENGINE_KINDS } from '../config/index.js';
import type { EngineReported, Usage } from '../../src/index.js';

export type EngineKind = Exclude<(typeof ENGINE_KINDS)[number], 'auto'>;

/** Fields that describe an engine, not its load, as `EngineJoined` does. */
export const LASTING = [
  'windowMax',
  'capacityTokens',
  'hostTokens',
  'hostTokensPerSecond',
  'contextTokensMax',
] as const;
export type Lasting = (typeof LASTING)[number];

/** Result of one scrape of an engine. An absent field means that the engine does not report it. */
export interface LoadReport
  extends Omit<EngineReported, 'type' | 'engine'>, Readonly<Partial<Record<Lasting, number>>> {
  readonly running?: number;
  /** A running total. */
  readonly generatedTokens?: number;
}

/** Engine-side times of one call, in milliseconds. An absent field means that the engine does not report it. */
export interface Timings {
  readonly serviceMs?: number;
  readonly queueMs?: number;
}

/** A switch of a server, and the cost of its absence. */
export interface Flag {
  readonly flag: string;
  /** Undefined: it cannot be seen from outside. */
  readonly isOn: boolean | undefined;
  readonly gives: string;
}

/** Features of a server's prefix cache. */
export const CACHE = 'a cache of the contexts that programs return to, without which the gate protects nothing';

/** Text of a GET of an engine's path: `undefined` on a timeout or an answer other than 2xx. Never rejects. */
export type Get = (path: string) => Promise<string | undefined>;

/** How a server reports the state that every engine has. Stateless; nobody else knows an engine's field names. */
export interface EngineAdapter {
  readonly kind: EngineKind;
  /** Whether the server behind `get` is of this kind. */
  recognise(get: Get): Promise<boolean>;
  /** This adapter, adjusted to the server's version or flags; absent: all servers of the kind are alike. */
  fit?(get: Get): Promise<EngineAdapter>;
  /**
   * The server's switches that the gateway profits from; absent: it has none.
   * @param answer of the second of two equal small calls; undefined: none was sent or answered
   */
  flags?(get: Get, answer: JsonObject | undefined): Promise<readonly Flag[]>;
  /** Name of the tier below its KV cache; undefined: none shows. Absent: the engine has none. */
  hostTier?(get: Get): Promise<string | undefined>;
  /** Path whose 2xx means "healthy". */
  readonly healthPath: string;
  /** Load and capacity as the engine reports them now; `{}` without a report. */
  readLoad(get: Get): Promise<LoadReport>;
  /** Further names that the engine accepts for a model that it lists as `model`; absent: none. */
  aliases?(model: string): readonly string[];
  /** Times in a parsed answer or last usage chunk; absent: it reports none. */
  readTimings?(answer: JsonObject): Timings;
  /** Usage, if this engine's names differ from OpenAI's; `undefined` if the answer has none. */
  readUsage?(answer: JsonObject): Usage | undefined;
  /** Explicit abort, for an engine that is slow to notice a closed connection; absent: closing it is enough. */
  readonly abort?: Abort;
}

/** An engine's abort by id: unique per attempt of a call, and of one length, because SGLang aborts by prefix. */
interface Abort {
  /** Body fields that give the request this id. */
  fields(requestId: string, path: string): JsonObject;
  /** The POST request that aborts it. */
  request(requestId: string): { readonly path: string; readonly body: string };
}
