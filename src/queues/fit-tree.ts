/**
 * An ordered set that finds the first entry, in order, whose need is at most `room`, in O(log n).
 *
 *                 (level, rank, seq)            Each node keeps the least need of its subtree, so a search
 *                  [need | least]               walks down once: left if something there fits, else the
 *                   /         \                 node itself, else right.
 *         [9 | 2]             [7 | 7]
 *          /    \                               firstFit(3): the root's least is 2 <= 3, the left child's
 *     [4 | 4]  [2 | 2]                          least is 2, its left child's 4 > 3, itself 9 > 3: take [2].
 *
 * A treap: a binary search tree by key and a heap by a hash of `seq`. The hash balances it without randomness, so that
 * the same events give the same tree. insert, delete, first and firstFit cost O(log n) expected; refresh O(n).
 */

/** Order of waiting calls: lower level first, then lower rank, then the earlier `seq`, which is unique. */
export interface Key {
  readonly level: number;
  readonly rank: number;
  readonly seq: number;
}

export function before(a: Key, b: Key): boolean {
  if (a.level !== b.level) return a.level < b.level;
  if (a.rank !== b.rank) return a.rank < b.rank;
  return a.seq < b.seq;
}

class Node<T> {
  left: Node<T> | undefined;
  right: Node<T> | undefined;
  least: number;
  readonly weight: number;

  constructor(
    readonly key: Key,
    readonly value: T,
    public need: number,
  ) {
    this.least = need;
    this.weight = scramble(key.seq);
  }

  /** Recomputes `least` from the children. */
  pull(): void {
    let least = this.need;
    if (this.left !== undefined && this.left.least < least) least = this.left.least;
    if (this.right !== undefined && this.right.least < least) least = this.right.least;
    this.least = least;
  }
}

export class FitTree<T> {
  #root: Node<T> | undefined;
  size = 0;

  /** Least need of all entries; Infinity when there are none. */
  get least(): number {
    return this.#root?.least ?? Infinity;
  }

  /** Adds `value` under a key that is not in the tree. */
  insert(key: Key, value: T, need: number): void {
    const node = new Node(key, value, need);
    split(this.#root, key, node);
    const { left, right } = node;
    node.left = node.right = undefined;
    this.#root = merge(merge(left, node), right);
    this.size += 1;
  }

  /** Removes the entry under `key`; false when there is none. */
  delete(key: Key): boolean {
    if (this.#find(key) === undefined) return false;
    this.#root = remove(this.#root, key);
    this.size -= 1;
    return true;
  }

  first(): T | undefined {
    let node = this.#root;
    while (node?.left !== undefined) node = node.left;
    return node?.value;
  }

  /** First entry in order that needs at most `room`, and `fits`. O((1 + such entries that do not fit) x log n). */
  firstFit(room: number, fits: (value: T) => boolean = () => true): T | undefined {
    return firstFit(this.#root, room, fits);
  }

  /** Reads every entry's need anew. */
  refresh(needOf: (value: T) => number): void {
    refresh(this.#root, needOf);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    const path: Node<T>[] = [];
    let node = this.#root;
    while (node !== undefined || path.length > 0) {
      for (; node !== undefined; node = node.left) path.push(node);
      const next = path.pop() as Node<T>;
      yield next.value;
      node = next.right;
    }
  }

  #find(key: Key): Node<T> | undefined {
    let node = this.#root;
    while (node !== undefined && node.key.seq !== key.seq) node = before(key, node.key) ? node.left : node.right;
    return node;
  }
}

function firstFit<T>(root: Node<T> | undefined, room: number, fits: (value: T) => boolean): T | undefined {
  if (root === undefined || root.least > room) return undefined;
  const left = firstFit(root.left, room, fits);
  if (left !== undefined) return left;
  return root.need <= room && fits(root.value) ? root.value : firstFit(root.right, room, fits);
}

/** Cuts `root` at `key` into the left and right subtree of `into`. */
function split<T>(root: Node<T> | undefined, key: Key, into: Node<T>): void {
  if (root === undefined) {
    into.left = undefined;
    into.right = undefined;
  } else if (before(root.key, key)) {
    split(root.right, key, into);
    root.right = into.left;
    root.pull();
    into.left = root;
  } else {
    split(root.left, key, into);
    root.left = into.right;
    root.pull();
    into.right = root;
  }
}

function remove<T>(root: Node<T> | undefined, key: Key): Node<T> | undefined {
  if (root === undefined) return undefined;
  if (root.key.seq === key.seq) return merge(root.left, root.right);
  if (before(key, root.key)) root.left = remove(root.left, key);
  else root.right = remove(root.right, key);
  root.pull();
  return root;
}

/** Joins two trees; every key of `a` precedes every key of `b`. */
function merge<T>(a: Node<T> | undefined, b: Node<T> | undefined): Node<T> | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  if (a.weight > b.weight) {
    a.right = merge(a.right, b);
    a.pull();
    return a;
  }
  b.left = merge(a, b.left);
  b.pull();
  return b;
}

function refresh<T>(root: Node<T> | undefined, needOf: (value: T) => number): void {
  if (root === undefined) return;
  refresh(root.left, needOf);
  refresh(root.right, needOf);
  root.need = needOf(root.value);
  root.pull();
}

/** A 32-bit mix (the finaliser of MurmurHash3): it maps neighbouring numbers far apart. */
function scramble(seq: number): number {
  let h = Math.imul(seq ^ (seq >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
