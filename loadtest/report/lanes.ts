import type { Lane, Span } from '../../lab/index.js';
import { Dice } from '../../workloads/index.js';
import type { LoadCallRecord, LoadProgramRecord } from '../records.js';

/** Kinds of spans in a lane, in drawing order. */
export const [TOOL, ENGINE, QUEUE, FAILED] = [0, 1, 2, 3] as const;

interface Kept {
  readonly program: LoadProgramRecord;
  readonly calls: readonly LaneCall[];
}

/** The drawn facts of a call; seconds. */
interface LaneCall {
  readonly sent: number;
  readonly dispatched: number;
  readonly ended: number;
  readonly failed: boolean;
}

/** Programs under way whose calls are remembered, and calls of each. */
const OPEN_MAX = 2_048;
const CALLS_MAX = 1_000;
/** Two, because the preferred one may turn out to be the last of the run, with few programs in it. */
const BLOCKS_MAX = 2;

/**
 * A sample of programs with their calls: a block of consecutive arrivals. The block depends on their indexes and the
 * seed alone, so that both targets of a comparison show the same programs.
 */
export class Lanes {
  readonly #open = new Map<string, LaneCall[]>();
  readonly #blocks = new Map<number, Kept[]>();
  #programs = 0;

  constructor(
    private readonly seed: number,
    private readonly lanesMax: number,
  ) {}

  callEnded({ target, program, sentMs, queueMs, endedMs, outcome }: LoadCallRecord): void {
    const calls = this.#callsOf(`${target} ${program}`);
    if (calls.length >= CALLS_MAX) return;
    const sent = sentMs / 1000;
    const ended = endedMs / 1000;
    const waited = Number.isNaN(queueMs) ? 0 : queueMs / 1000;
    calls.push({ sent, dispatched: Math.min(ended, sent + waited), ended, failed: outcome !== 'completed' });
  }

  #callsOf(program: string): LaneCall[] {
    const known = this.#open.get(program);
    if (known) return known;
    const calls: LaneCall[] = [];
    this.#open.set(program, calls);
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_MAX && oldest !== undefined) this.#open.delete(oldest);
    return calls;
  }

  programEnded(program: LoadProgramRecord): void {
    if (program.target === 0) this.#programs += 1;
    const name = `${program.target} ${program.program}`;
    const calls = this.#open.get(name) ?? [];
    this.#open.delete(name);
    this.#blockOf(program.index)?.push({ program, calls });
  }

  /** Blocks have a random order: a dropped block comes after all kept ones, and never returns. */
  #blockOf(index: number): Kept[] | undefined {
    const block = Math.floor(index / this.lanesMax);
    const known = this.#blocks.get(block);
    if (known) return known;
    const kept: Kept[] = [];
    this.#blocks.set(block, kept);
    if (this.#blocks.size <= BLOCKS_MAX) return kept;
    const last = this.#inOrder().at(-1) ?? block;
    this.#blocks.delete(last);
    return last === block ? undefined : kept;
  }

  #inOrder(): number[] {
    const keyOf = (block: number) => Dice.of(this.seed, block).share();
    return [...this.#blocks.keys()].sort((a, b) => keyOf(a) - keyOf(b));
  }

  /** Programs that have ended at the first target, from which the lanes are a sample. */
  get programs(): number {
    return this.#programs;
  }

  /** Lanes of each target in order of arrival, from the block with the most programs. */
  lanes(targets: number): { readonly lanes: readonly Lane[]; readonly from: number; readonly until: number }[] {
    const blocks = this.#inOrder().map((block) => this.#blocks.get(block) ?? []);
    const shown = blocks.reduce((most, block) => (block.length > most.length ? block : most), []);
    const from = Math.min(...shown.map(({ program }) => program.arrivedMs)) / 1000;
    const until = Math.max(...shown.map(({ program }) => program.endedMs)) / 1000;
    const kept = shown.toSorted((a, b) => a.program.index - b.program.index);
    return Array.from({ length: targets }, (_, target) => {
      const own = kept.filter(({ program }) => program.target === target);
      return { lanes: own.map(({ program, calls }) => laneOf(program, calls)), from, until };
    });
  }
}

/** Parallel calls in as few rows as they need, and tools where no call ran. */
function laneOf({ program, arrivedMs, endedMs }: LoadProgramRecord, calls: readonly LaneCall[]): Lane {
  const spans: Span[] = [];
  let idleFrom = arrivedMs / 1000;
  const idle = (until: number) => {
    if (until > idleFrom) spans.push({ from: idleFrom, until, kind: TOOL, row: 0, rows: 1 });
  };
  let together: LaneCall[] = [];
  for (const call of calls.toSorted((a, b) => a.sent - b.sent || a.ended - b.ended)) {
    if (call.sent >= idleFrom) {
      spans.push(...sideBySide(together));
      together = [];
      idle(call.sent);
    }
    together.push(call);
    idleFrom = Math.max(idleFrom, call.ended);
  }
  spans.push(...sideBySide(together));
  // The lane of a program with too many calls ends with the last recorded one.
  if (calls.length < CALLS_MAX) idle(endedMs / 1000);
  return { name: program, spans };
}

/** Puts each call into the first row that is free when it is sent. */
function sideBySide(calls: readonly LaneCall[]): Span[] {
  const rowEnds: number[] = [];
  const placed = calls.map((call) => {
    const free = rowEnds.findIndex((end) => end <= call.sent);
    const row = free < 0 ? rowEnds.length : free;
    rowEnds[row] = call.ended;
    return { call, row };
  });
  const rows = rowEnds.length;
  return placed.flatMap(({ call: { sent, dispatched, ended, failed }, row }) => [
    ...(dispatched > sent ? [{ from: sent, until: dispatched, kind: QUEUE, row, rows }] : []),
    { from: dispatched, until: ended, kind: failed ? FAILED : ENGINE, row, rows },
  ]);
}
