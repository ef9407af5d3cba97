import type { Observer } from '../calls/observers.js';
import type { CallSpec } from '../calls/spec.js';

/** Calls whose source is remembered: enough for a share, and few enough to forget a client's old settings soon. */
const CALLS = 512;

/** The sources that named the programs of the last calls, for operators to see. */
export class Identified implements Observer {
  readonly #sources: string[] = [];
  #next = 0;

  accepted({ spec }: { readonly spec: { readonly identity: Pick<CallSpec['identity'], 'source'> } }): void {
    this.#sources[this.#next] = spec.identity.source;
    this.#next = (this.#next + 1) % CALLS;
  }

  /** Number of the last calls by source, the most frequent first. */
  counts(): readonly (readonly [source: string, calls: number])[] {
    const counts = new Map<string, number>();
    for (const source of this.#sources) counts.set(source, (counts.get(source) ?? 0) + 1);
    return [...counts].sort(([, a], [, b]) => b - a);
  }
}
