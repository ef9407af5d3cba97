import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import type { Leaf } from './identity.js';
import type { Ends, Seat } from './ends.js';

/**
 * Programs told by their messages. A conversation is a chain of hashes, one for each answer in it, over the hash of the
 * answer before and all messages since:
 *
 *     tenant ── system ── user ── ANSWER ── user ── ANSWER ── user        the call that is asked about
 *                                   │                 │
 *                                leaf: P            leaf: P               remembered when the answers were given
 *
 * A call belongs to the program that waits at the last leaf of its chain. Programs that run alike, word by word, wait at one
 * leaf together: each call that goes on from there takes one of them, so that two never become one. It takes the one whose
 * tool calls had the ids that it sends back; else the one that came last, so that those that broke off here are not taken
 * for the ones that were started again after them; when none waits, a fork or a client's retry joins the program that
 * went on last.
 *
 * A client that cuts or rewrites the beginning of its history breaks the chain. It is still known by an *anchor*, an answer
 * together with the message before it, as long as only one program was ever given that pair and the answer is long enough
 * to be its own. Two programs with the same pair make the anchor useless, never wrong.
 *
 * Cost: every message is hashed once, several short ones together; look-ups are O(1) an answer.
 */
const ANCHOR_CHARS_MIN = 32;
/** Longer conversations are not matched: hashing a body made of a million tiny messages would hold up everyone else. */
const MESSAGES_MAX = 10_000;
/** Hashing costs a microsecond and more by itself; contents up to this are hashed together with what they are joined to. */
const JOINED_CHARS_MAX = 2048;
/** Programs that wait at one leaf; the oldest gives way. */
const WAITING_MAX = 16;

/** A conversation, hashed. */
export interface Trail {
  readonly tenant: TenantId;
  readonly messages: readonly CanonicalMessage[];
  /** The message of the same index as it is hashed. */
  readonly texts: readonly string[];
  /** By the index of an answer, the hash of the conversation up to it. */
  readonly chain: ReadonlyMap<number, string>;
  /** What the hash of an answer that comes now would begin with. */
  readonly open: string;
}

interface Waiting extends Seat {
  /** Hash of the ids of the tool calls it was given, '' for none. */
  readonly callIds: string;
}

interface Sitting {
  readonly waiting: Waiting[];
  /** The program that went on last, or was last pushed out. */
  last?: Waiting | undefined;
}

export class History {
  readonly #ends: Ends;
  readonly #leaves: LRUCache<string, Sitting>;
  /** `null` once two programs were given the same answer to the same message. */
  readonly #anchors: LRUCache<string, { readonly seat: Seat | null }>;

  constructor(max: number, ends: Ends) {
    this.#ends = ends;
    this.#leaves = new LRUCache({ max });
    this.#anchors = new LRUCache({ max });
  }

  /** The program that the conversation goes on from, which no longer waits there; `undefined` if there is none. */
  find(trail: Trail): ProgramId | undefined {
    for (let i = trail.messages.length - 1; i >= 0; i--) {
      const message = trail.messages[i];
      if (message?.role !== 'assistant') continue;
      const seat = this.#goOn(trail.chain.get(i) ?? '', message) ?? this.#anchored(trail, i);
      if (seat) return seat.program;
    }
    return undefined;
  }

  /** Seats the program where its conversation now ends. @returns the place, for `leave`. */
  remember(tenant: TenantId, leaf: Leaf, answer: CanonicalMessage, program: ProgramId): string {
    const seat = this.#ends.seat(program);
    const text = textOf(answer);
    const place = sha256(leaf.chain + text);
    this.#wait(place, { callIds: callIdsOf(answer), ...seat });
    if (answer.content.length >= ANCHOR_CHARS_MIN) this.#anchor(anchorOf(tenant, leaf.last, text), seat);
    return place;
  }

  /** The program has gone on from there by another sign than its history. */
  leave(place: string, program: ProgramId): void {
    const sitting = this.#leaves.peek(place);
    const at = sitting?.waiting.findIndex((seat) => seat.program === program) ?? -1;
    if (at >= 0) sitting?.waiting.splice(at, 1);
  }

  #anchor(key: string, seat: Seat): void {
    const known = this.#anchors.get(key)?.seat;
    const free =
      known === undefined || (known !== null && (known.program === seat.program || !this.#ends.isAlive(known)));
    this.#anchors.set(key, { seat: free ? seat : null });
  }

  #wait(key: string, seat: Waiting): void {
    const sitting = this.#leaves.get(key);
    if (sitting === undefined) {
      this.#leaves.set(key, { waiting: [seat] });
      return;
    }
    const at = sitting.waiting.findIndex(({ program }) => program === seat.program);
    if (at >= 0) sitting.waiting[at] = seat;
    else if (sitting.waiting.push(seat) > WAITING_MAX) sitting.last = sitting.waiting.shift();
  }

  #goOn(key: string, answer: CanonicalMessage): Seat | undefined {
    const sitting = this.#leaves.get(key);
    if (!sitting) return undefined;
    const { waiting, last } = sitting;
    const callIds = callIdsOf(answer);
    const isOwn = (seat: Waiting) => callIds !== '' && seat.callIds === callIds && this.#ends.isAlive(seat);
    const own = waiting.findLastIndex(isOwn);
    if (own >= 0) return (sitting.last = waiting.splice(own, 1)[0]);
    if (last && isOwn(last)) return last;
    for (let seat = waiting.pop(); seat !== undefined; seat = waiting.pop()) {
      if (this.#ends.isAlive(seat)) return (sitting.last = seat);
    }
    return last && this.#ends.isAlive(last) ? last : undefined;
  }

  #anchored(trail: Trail, i: number): Seat | undefined {
    const { tenant, messages, texts } = trail;
    const before = texts[i - 1];
    const answer = texts[i];
    if (before === undefined || answer === undefined) return undefined;
    if ((messages[i]?.content.length ?? 0) < ANCHOR_CHARS_MIN) return undefined;
    const seat = this.#anchors.get(anchorOf(tenant, before, answer))?.seat;
    return seat && this.#ends.isAlive(seat) ? seat : undefined;
  }
}

/** `undefined` for a conversation that is empty or too long to match. */
export function trailOf(tenant: TenantId, messages: readonly CanonicalMessage[]): Trail | undefined {
  if (messages.length === 0 || messages.length > MESSAGES_MAX) return undefined;
  const texts = messages.map(textOf);
  const chain = new Map<number, string>();
  let open = startOf(tenant);
  texts.forEach((text, i) => {
    open += text;
    if (messages[i]?.role === 'assistant') chain.set(i, (open = sha256(open)));
    else if (open.length > JOINED_CHARS_MAX) open = sha256(open);
  });
  return { tenant, messages, texts, chain, open };
}

/** Where a conversation of at least one message ends. */
export function leafOf({ open, texts }: Trail): Leaf {
  return { chain: open, last: texts.at(-1) ?? '' };
}

/** Conversations of two tenants have no hash in common. No hash has a colon, so this is not taken for one. */
const startOf = (tenant: TenantId): string => `${tenant.length}:${tenant}`;
const sha256 = (text: string): string => hash('sha256', text, 'base64');
/** Tells the lengths of its parts, so it can be joined. A long content is hashed by itself: to join it would copy it. */
const textOf = ({ role, content }: CanonicalMessage): string =>
  content.length > JOINED_CHARS_MAX
    ? `${role.length}:${role}#${sha256(content)}`
    : `${role.length}:${role}${content.length}:${content}`;
const callIdsOf = ({ callIds }: CanonicalMessage): string => (callIds === undefined ? '' : sha256(callIds));
const anchorOf = (tenant: TenantId, before: string, answer: string): string =>
  sha256(startOf(tenant) + before + answer);
