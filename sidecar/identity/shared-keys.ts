import type { CanonicalMessage } from '../apis/api.js';
import { idOf, standsAlone, wholeOf } from './marks.js';
import type { Answered } from './seats.js';
import { digest, idsWith, type Trail } from './trail.js';

/*
 * Keys under which gateways find each other's programs. They hold hashes and ids, and no text. An answer is known by its
 * place in the conversation, and by itself if it is long or asks for tools; a response by its id.
 *
 * Only whole answers are found. Those that a client has cut or printed into text are found by their own gateway alone.
 */

/** Number of last answers of a call that are looked up. */
const ANSWERS_MAX = 16;

export const responseKey = (id: string): string => `r${id}`;
/** Names the engine that holds the response. */
export const holderKey = (id: string): string => `e${id}`;

/** @param foreign marks of messages that the call has quoted, which prove nothing; undefined: no answer proves anything by itself */
export function answerKeys(
  { chain, allIds, hash }: Answered,
  answer: CanonicalMessage,
  foreign: ReadonlySet<string | number> | undefined,
): string[] {
  const isQuoted = foreign === undefined || [idOf(answer), wholeOf(answer)].some((mark) => foreign.has(mark ?? ''));
  return [placeKey(chain, allIds, hash), ...(isQuoted ? [] : ownKeys(answer))];
}

/** Keys of the last answers in a conversation. @param rewritten whether answers are known by themselves too */
export function soughtKeys(trail: Trail, rewritten: boolean): string[] {
  const answers = [...trail.turns.keys()].filter((index) => trail.turns[index]?.role === 'assistant');
  return answers
    .slice(-ANSWERS_MAX)
    .toReversed()
    .flatMap((index) => {
      const [said, place] = [trail.said(index), trail.before(index)];
      const hash = digest(said.content);
      return [placeKey(place.chain, idsWith(place.ids, said), hash), ...(rewritten ? ownKeys(said) : [])];
    });
}

const placeKey = (chain: string, allIds: string, hash: string): string => `c${chain}${allIds}${hash}`;

/** A counted id is not enough, and neither is a content that many programs get. */
function ownKeys(answer: CanonicalMessage): string[] {
  const [id, whole] = [idOf(answer), wholeOf(answer)];
  if (id === undefined && !standsAlone({ chars: answer.content.length })) return [];
  return [`${id ?? 'h'}${whole ?? digest(answer.content)}`];
}
