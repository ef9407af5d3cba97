import type { AgentProgram } from '../workloads/index.js';
import type { AloneSpeed, LoadCallRecord } from './load.js';

/**
 * The split of one program's time. Its time is that of a chain of calls and gaps, found backwards from its end: each
 * call began when the last of its predecessors had ended.
 *
 *     arrival ──gap──[queue|engine]──gap──[queue|engine]──▶ end
 *                        └──gap──[..|....]  (waited for, but not the last to end: not on the chain)
 */
export class Timeline {
  /** Record of each call that was made; undefined for the others. */
  readonly #records: (LoadCallRecord | undefined)[];
  readonly #gaps: Float64Array;

  constructor(
    private readonly program: AgentProgram,
    private readonly arrivedMs: number,
  ) {
    this.#records = new Array<undefined>(program.calls.length).fill(undefined);
    this.#gaps = new Float64Array(program.calls.length);
  }

  plan(index: number, gapMs: number): number {
    this.#gaps[index] = gapMs;
    const before = this.#lastBefore(index);
    return (before === undefined ? this.arrivedMs : (this.#records[before]?.endedMs ?? NaN)) + gapMs;
  }

  ended(index: number, record: LoadCallRecord): void {
    this.#records[index] = record;
  }

  split() {
    let last: number | undefined;
    let queued = NaN;
    for (const [index, record] of this.#records.entries()) {
      if (record === undefined) continue;
      if (last === undefined || record.endedMs > (this.#records[last]?.endedMs ?? NaN)) last = index;
      if (!Number.isNaN(record.queueMs)) queued = Math.max(record.queueMs, queued || 0);
    }
    const split = { queueMs: Number.isNaN(queued) ? NaN : 0, engineMs: 0, toolMs: 0 };
    const endedMs = last === undefined ? this.arrivedMs : (this.#records[last]?.endedMs ?? NaN);
    for (let index = last; index !== undefined; index = this.#lastBefore(index)) {
      const record = this.#records[index];
      if (record === undefined) break;
      split.toolMs += this.#gaps[index] ?? 0;
      split.queueMs += record.queueMs || 0;
      split.engineMs += workMs(record);
    }
    return { ...split, endedMs, longestQueueMs: queued };
  }

  /**
   * The program's time alone on its target, by the speed of calls that had the target to themselves. Prompts are
   * assumed to hit the cache for tokens shared with the program's own earlier calls. Its parallel calls do not slow
   * each other.
   */
  aloneMs({ overheadMs, promptTokenMs, outputTokenMs }: AloneSpeed): number {
    const seen = new Map<string | number, number>();
    return this.#longest((record) => {
      const prefix = this.program.calls[record.call]?.prefix;
      let cached = 0;
      if (prefix !== undefined && 'call' in prefix) cached = this.#keptOf(prefix.call, prefix.tokens);
      else if (prefix !== undefined && 'name' in prefix) {
        cached = Math.min(seen.get(prefix.name) ?? 0, prefix.tokens);
        seen.set(prefix.name, Math.max(seen.get(prefix.name) ?? 0, prefix.tokens));
      } else if (prefix !== undefined) {
        const fresh = prefix.blocks.findIndex((id) => !seen.has(id));
        cached = (fresh < 0 ? prefix.blocks.length : fresh) * prefix.blockTokens;
        for (const id of prefix.blocks) seen.set(id, 0);
      }
      const computed = Math.max(1, record.promptTokens - cached);
      return overheadMs + computed * promptTokenMs + record.outputTokens * outputTokenMs;
    });
  }

  /** Tokens kept of an earlier call; all of its tokens if recorded text continues it. */
  #keptOf(call: number, tokens: number): number {
    const before = this.#records[call];
    if (before === undefined) return 0;
    const recorded = this.program.calls[call];
    return recorded?.messages === undefined ? tokens : before.promptTokens + before.outputTokens;
  }

  /** The longest chain of calls and gaps, for given durations of calls. */
  #longest(durationMs: (record: LoadCallRecord) => number): number {
    const ends = new Float64Array(this.#records.length);
    let longest = 0;
    for (const [index, record] of this.#records.entries()) {
      if (record === undefined) continue;
      const after = this.program.calls[index]?.after ?? [];
      const from = after.reduce((latest, before) => Math.max(latest, ends[before] ?? 0), 0);
      const end = from + (this.#gaps[index] ?? 0) + durationMs(record);
      ends[index] = end;
      longest = Math.max(longest, end);
    }
    return longest;
  }

  #lastBefore(index: number): number | undefined {
    let last: number | undefined;
    for (const before of this.program.calls[index]?.after ?? [])
      if (last === undefined || (this.#records[before]?.endedMs ?? NaN) > (this.#records[last]?.endedMs ?? NaN))
        last = before;
    return last;
  }
}

/** Time of a call outside the gateway's queue. */
const workMs = ({ sentMs, endedMs, queueMs }: LoadCallRecord): number => Math.max(0, endedMs - sentMs - (queueMs || 0));
