import { hash } from 'node:crypto';
import type { CanonicalMessage, Turn } from '../apis/api.js';

/** Longer conversations are not matched: hashing a body made of a million tiny messages would hold up everyone else. */
const TURNS_MAX = 10_000;
/** Hashing costs a microsecond and more by itself; contents up to this are hashed together with what they are joined to. */
const JOINED_CHARS_MAX = 2048;
const BRIEF_CHARS = 256;

/** A point of a conversation. */
export interface Place {
  /** Hash of all messages before it, one link for each answer. */
  readonly chain: string;
  /** Hash of the ids of all tool calls before it, '' without any. */
  readonly ids: string;
}

const START: Place = { chain: '', ids: '' };

/**
 * A conversation as a chain of hashes, one link for each answer in it, over the link before and all messages since:
 *
 *     system ── user ──▶ place ── ANSWER ── user ──▶ place ── ANSWER ── user ──▶ end
 *
 * Messages are read and hashed when asked for. Who finds out where a late answer stands says so (`resume`): then only
 * what follows it is read, however long the conversation.
 */
export class Trail {
  readonly turns: readonly Turn[];
  readonly #said: CanonicalMessage[] = [];
  readonly #places: Place[] = [];
  #end: Place | undefined;
  #from = 0;
  #at = START;

  private constructor(turns: readonly Turn[]) {
    this.turns = turns;
  }

  /** `undefined` for a conversation that is empty or too long to match. */
  static of(turns: readonly Turn[]): Trail | undefined {
    return turns.length === 0 || turns.length > TURNS_MAX ? undefined : new Trail(turns);
  }

  said(index: number): CanonicalMessage {
    return (this.#said[index] ??= this.turns[index]?.read() ?? { role: '', content: '' });
  }

  /** Hash of a message's beginning and length. */
  brief(index: number): string {
    const { role, content } = this.said(index);
    return digest(`${role}:${content.length}:${content.slice(0, BRIEF_CHARS)}`);
  }

  /** Where the answer of this index was given. */
  before(index: number): Place {
    if (this.#end === undefined) this.#walk();
    return this.#places[index] ?? START;
  }

  /** Where an answer that comes now will be given. */
  get end(): Place {
    return this.#end ?? this.#walk();
  }

  /** The answer of this index was given at this place. */
  resume(index: number, place: Place): void {
    if (this.#end !== undefined) return;
    this.#from = index;
    this.#at = place;
  }

  #walk(): Place {
    let { chain: open, ids } = this.#at;
    for (let i = this.#from; i < this.turns.length; i++) {
      const said = this.said(i);
      if (said.role === 'assistant') {
        // Where the walk begins is a link already.
        if (i > this.#from) open = digest(open);
        this.#places[i] = { chain: open, ids };
        open += textOf(said);
        ids = idsWith(ids, said);
      } else {
        open += textOf(said);
        if (open.length > JOINED_CHARS_MAX) open = digest(open);
      }
    }
    return (this.#end = { chain: digest(open), ids });
  }
}

/** 72 bits: many of these are kept, and no tenant reads another's. */
export const digest = (text: string): string => hash('sha256', text, 'base64').slice(0, 12);

/** The ids of tool calls up to and with an answer. */
export const idsWith = (ids: string, { callIds }: CanonicalMessage): string =>
  callIds === undefined ? ids : digest(`${ids}\u0000${callIds}`);

/** Tells the lengths of its parts, so it can be joined. A long content is hashed by itself: to join it would copy it. */
const textOf = ({ role, content }: CanonicalMessage): string =>
  content.length > JOINED_CHARS_MAX
    ? `${role.length}:${role}#${digest(content)}`
    : `${role.length}:${role}${content.length}:${content}`;
