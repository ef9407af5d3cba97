import { invariant } from '../invariant.js';
import type { Turn, Turned } from '../programs/account.js';
import type { Accounts } from '../programs/accounts.js';
import { FitTree } from './fit-tree.js';

export interface Queued extends Turned {
  readonly extraTokens: number;
}

/** Waiting calls: for each turn a tree in order of (level, rank, seq). One turn where tenants are not told apart. */
export class TurnQueue<T extends Queued> {
  readonly #byTurn = new Map<Turn, Lane<T>>();
  /** The same, unordered: an array is searched several times as fast. */
  readonly #lanes: Lane<T>[] = [];
  /** No call needs less: a queue where nothing fits is not searched. Undefined: to be read anew. */
  #least: number | undefined;
  size = 0;

  /** @param needOf tokens of room that a call needs; it changes only between `delete` and `insert`, or for `refresh` */
  constructor(private readonly needOf: (call: T) => number) {}

  insert(call: T): void {
    const need = this.needOf(call);
    this.#laneOf(call.turn).insert(call, need);
    this.size += 1;
    if (this.#least !== undefined) this.#least = Math.min(this.#least, need);
  }

  delete(call: T): void {
    const lane = this.#laneOf(call.turn);
    lane.delete(call);
    this.size -= 1;
    if (this.#least !== undefined && this.needOf(call) <= this.#least) this.#least = undefined;
    // The only lane stays, so that it is not made for each call anew.
    if (lane.tree.size === 0 && this.#lanes.length > 1) this.#drop(lane);
  }

  refresh(): void {
    for (const lane of this.#lanes) lane.refresh(this.needOf);
    this.#least = undefined;
  }

  /** Adds the number of calls at each level to `sums`. */
  countLevels(sums: number[]): void {
    for (const lane of this.#lanes) lane.calls.forEach((count, level) => (sums[level] = (sums[level] ?? 0) + count));
  }

  /** Number of calls of its turn at levels up to `level` that this one, the last to arrive, cannot pass. O(levels). */
  ahead(call: T, level: number): number {
    return this.#laneOf(call.turn).ahead(call, level);
  }

  /** The first call, in order of turns, that fits. Of n lanes in random order O(log n) are searched. */
  firstFit(room: number, accounts: Accounts, fits: (call: T) => boolean): T | undefined {
    this.#least ??= this.#lanes.reduce((least, { tree }) => Math.min(least, tree.least), Infinity);
    return this.#least <= room ? this.#first(accounts, ({ tree }) => tree.firstFit(room, fits)) : undefined;
  }

  first(accounts: Accounts): T | undefined {
    return this.size === 0 ? undefined : this.#first(accounts, ({ tree }) => tree.first());
  }

  #first(accounts: Accounts, find: (lane: Lane<T>) => T | undefined): T | undefined {
    let first: T | undefined;
    for (const lane of this.#lanes)
      if (first === undefined || accounts.mayPrecede(lane.turn, first.turn))
        first = accounts.firstOf(first, find(lane));
    return first;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const { tree } of this.#lanes) yield* tree;
  }

  #laneOf(turn: Turn): Lane<T> {
    let lane = this.#byTurn.get(turn);
    if (lane === undefined) {
      this.#byTurn.set(turn, (lane = new Lane(turn, this.#lanes.length)));
      this.#lanes.push(lane);
    }
    return lane;
  }

  #drop(lane: Lane<T>): void {
    this.#byTurn.delete(lane.turn);
    const last = this.#lanes.pop() as Lane<T>;
    if (last === lane) return;
    this.#lanes[lane.index] = last;
    last.index = lane.index;
  }
}

/** The calls of one turn, with their number and tokens by level. */
class Lane<T extends Queued> {
  readonly tree = new FitTree<T>();
  readonly calls: number[] = [];
  readonly #tokens: number[] = [];

  constructor(
    readonly turn: Turn,
    public index: number,
  ) {}

  insert(call: T, need: number): void {
    this.tree.insert(call, call, need);
    this.#count(call, 1);
  }

  delete(call: T): void {
    invariant(this.tree.delete(call), 'a waiting call is in its queue');
    this.#count(call, -1);
  }

  refresh(needOf: (call: T) => number): void {
    this.tree.refresh(needOf);
    this.calls.length = 0;
    this.#tokens.length = 0;
    for (const call of this.tree) this.#count(call, 1);
  }

  /** Number of other calls at levels up to `level`; 0 when they are larger on average: the call may then pass them. */
  ahead(call: T, level: number): number {
    let calls = call.level <= level ? -1 : 0;
    let tokens = call.level <= level ? -call.extraTokens : 0;
    for (let i = 0; i <= level; i += 1) {
      calls += this.calls[i] ?? 0;
      tokens += this.#tokens[i] ?? 0;
    }
    return call.extraTokens * calls >= tokens ? calls : 0;
  }

  #count({ level, extraTokens }: T, sign: 1 | -1): void {
    this.calls[level] = (this.calls[level] ?? 0) + sign;
    this.#tokens[level] = (this.#tokens[level] ?? 0) + sign * extraTokens;
  }
}
