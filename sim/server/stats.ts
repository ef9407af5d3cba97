import type { IncomingHttpHeaders } from 'node:http';
import type { Engine, EngineTotals } from '../engine/engine.js';
import type { Sequence, SequenceState } from '../engine/sequence.js';

/** One answer inside a request, in the engine's terms. Times are milliseconds of model time, NaN where not reached. */
export interface SequenceRecord {
  readonly state: SequenceState;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly generatedTokens: number;
  readonly preemptions: number;
  readonly arrivedAtMs: number;
  readonly scheduledAtMs: number;
  readonly firstTokenAtMs: number;
  readonly endedAtMs: number;
}

/** One HTTP request for an answer. */
export interface RequestRecord {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Only with `recordBodies`. */
  readonly body?: string;
  /** Whether the client left before its answer was complete. */
  readonly disconnected: boolean;
  readonly sequences: readonly SequenceRecord[];
}

export interface EngineStats extends Readonly<EngineTotals> {
  /** POST requests to generating paths, refused and misbehaved ones included. */
  readonly requests: number;
  readonly running: number;
  readonly waiting: number;
  readonly kvBlocksUsed: number;
  readonly kvBlocks: number;
  /** The latest requests, oldest first. */
  readonly records: readonly RequestRecord[];
}

/** A record being written. */
export interface OpenRecord {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  body?: string;
  disconnected: boolean;
  /**
   * A function, because sequences go on. Replaced by a constant once they have ended, so that a record does not retain
   * its prompt.
   */
  sequences: () => readonly SequenceRecord[];
}

/** Statistics of an engine's use, for tests. Bounded by `limit` records. */
export class StatsBook {
  #requests = 0;
  readonly #records: OpenRecord[] = [];

  constructor(private readonly limit: number) {}

  open(path: string, headers: IncomingHttpHeaders): OpenRecord {
    const record: OpenRecord = { path, headers, disconnected: false, sequences: () => [] };
    this.#requests += 1;
    this.#records.push(record);
    if (this.#records.length > this.limit) this.#records.shift();
    return record;
  }

  read(engine: Engine): EngineStats {
    return {
      ...engine.totals,
      requests: this.#requests,
      running: engine.running,
      waiting: engine.waiting,
      kvBlocksUsed: engine.kv.size - engine.kv.free,
      kvBlocks: engine.kv.size,
      records: this.#records.map((record) => ({ ...record, sequences: record.sequences() })),
    };
  }
}

export function sequenceRecord(sequence: Sequence): SequenceRecord {
  return {
    state: sequence.state,
    promptTokens: sequence.work.promptTokens,
    cachedTokens: sequence.cachedTokens,
    outputTokens: sequence.work.outputTokens,
    generatedTokens: sequence.generated,
    preemptions: sequence.preemptions,
    arrivedAtMs: sequence.arrivedAt,
    scheduledAtMs: sequence.scheduledAt,
    firstTokenAtMs: sequence.firstTokenAt,
    endedAtMs: sequence.endedAt,
  };
}
