import { hash } from 'node:crypto';
import type { CanonicalMessage, Turn } from '../apis/api.js';
import { hashOf } from './growing.js';
import type { Place } from './memory.js';

/** Longer conversations are not matched, because hashing a million tiny messages would block all other calls. */
export const TURNS_MAX = 10_000;
/** A hash costs a microsecond or more: contents up to this length are hashed together with their neighbours. */
const JOINED_CHARS_MAX = 8192;
const BRIEF_CHARS = 256;

const START: Place = { chain: '', ids: '' };

/**
 * A conversation as a chain of hashes, one link for each answer in it, over the link before and all messages since:
 *
 *     system ── user ──▶ place ── ANSWER ── user ──▶ place ── ANSWER ── user ──▶ end
 *
 * Messages are read and hashed on demand. A caller that knows the place of a late answer states it (`resume`). Then
 * only the messages after it are read, however long the conversation.
 */
export class Trail {
  readonly #said: CanonicalMessage[] = [];
  readonly #places: Place[] = [];
  #end: Place | undefined;
  #from = 0;
  #at = START;

  constructor(
    readonly turns: readonly Turn[],
    readonly sender: number,
  ) {}

  said(index: number): CanonicalMessage {
    return (this.#said[index] ??= this.turns[index]?.read() ?? { role: '', content: '' });
  }

  /** Hash of a message's beginning and length. */
  brief(index: number): number {
    const said = this.said(index);
    return briefOf(said.role, said);
  }

  /** Hash of the first message that is not the system's, and of the length of those before: clocks keep theirs. */
  get opening(): number {
    const first = Math.max(
      0,
      this.turns.findIndex(({ role }) => !isSystem(role)),
    );
    let before = 0;
    for (let i = 0; i < first; i++) before += this.said(i).content.length;
    return briefOf(before, this.said(first));
  }

  before(index: number): Place {
    if (this.#end === undefined) this.#walk();
    return this.#places[index] ?? START;
  }

  /** The place of the next answer. */
  get end(): Place {
    return this.#end ?? this.#walk();
  }

  /** States that the answer at this index has this place. */
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
        // The start of the walk is already a link.
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

const briefOf = (first: string | number, { content }: CanonicalMessage): number =>
  hashOf(`${first} ${content.length} ${hashOf(content, 0, Math.min(content.length, BRIEF_CHARS))}`);

export const isSystem = (role: string): boolean => role === 'system' || role === 'developer';

/** 72 bits: short, because many are kept, and sufficient, because no tenant reads another's. */
export const digest = (text: string): string => hash('sha256', text, 'base64').slice(0, 12);

/** Hash of the ids of tool calls up to and including an answer. */
export const idsWith = (ids: string, { callIds }: CanonicalMessage): string =>
  callIds === undefined ? ids : digest(`${ids}\u0000${callIds}`);

/** With the lengths of its parts, so that joined texts are unambiguous. A long content is hashed: joining copies it. */
const textOf = ({ role, content }: CanonicalMessage): string =>
  content.length > JOINED_CHARS_MAX
    ? `${role.length}:${role}#${digest(content)}`
    : `${role.length}:${role}${content.length}:${content}`;
