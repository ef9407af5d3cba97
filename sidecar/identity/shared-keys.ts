import type { CanonicalMessage } from '../apis/api.js';
import { programId } from '../../src/index.js';
import { hashOf } from './growing.js';
import type { Identity, Sought } from './identity.js';
import { linesIn } from './texts.js';
import { idOf, standsAlone, wholeOf } from './marked.js';
import type { Answered } from './seats.js';
import { labelOf } from './names.js';
import { passedOn, threadOf } from './tasks.js';
import { digest, idsWith, isSystem, type Trail } from './trail.js';

/*
 * Keys under which gateways find each other's programs. They hold hashes and ids, and no text. An answer is known by its
 * place in the conversation, and by itself if it is long or asks for tools; a response by its id.
 *
 * Only whole answers are found, and tasks of sub-agents that are a whole line or message. Answers that a client has cut or
 * printed into text are found by their own gateway alone.
 */

/** Number of last answers of a call that are looked up. */
const ANSWERS_MAX = 16;
/** Texts in a first message that are looked up as tasks, and the longest message that may be one. */
const TASKS_MAX = 32;
const WHOLE_CHARS_MAX = 16_384;

export const responseKey = (id: string): string => `r${id}`;
/** Names the engine that holds the response. */
export const holderKey = (id: string): string => `e${id}`;

/** @param foreign marks of messages that the call has quoted, which prove nothing */
export function answerKeys(
  { chain, allIds }: Answered,
  answer: CanonicalMessage,
  foreign: ReadonlySet<string | number>,
): string[] {
  const isQuoted = [idOf(answer), wholeOf(answer)].some((mark) => foreign.has(mark ?? ''));
  return [placeKey(chain, allIds, digest(answer.content)), ...(isQuoted ? [] : ownKeys(answer))];
}

/** @param responseId of the response that the call continues */
export function soughtBy(responseId: string | undefined, trail: Trail | undefined): Sought {
  const answers = trail === undefined ? [] : soughtKeys(trail);
  if (responseId !== undefined) return { keys: [responseKey(responseId), ...answers], source: 'previous_response_id' };
  if (!trail || answers.length > 0) return { keys: answers, source: 'history' };
  return { keys: soughtTasks(trail), source: 'history', opening: trail.opening };
}

function soughtKeys(trail: Trail): string[] {
  const answers = [...trail.turns.keys()].filter((index) => trail.turns[index]?.role === 'assistant');
  return answers
    .slice(-ANSWERS_MAX)
    .toReversed()
    .flatMap((index) => {
      const [said, place] = [trail.said(index), trail.before(index)];
      const hash = digest(said.content);
      return [placeKey(place.chain, idsWith(place.ids, said), hash), ...ownKeys(said)];
    });
}

const placeKey = (chain: string, allIds: string, hash: string): string => `c${chain}${allIds}${hash}`;

/** A counted id is not enough, and neither is a content that many programs get. */
function ownKeys(answer: CanonicalMessage): string[] {
  const [id, whole] = [idOf(answer), wholeOf(answer)];
  if (id === undefined && !standsAlone({ chars: answer.content.length })) return [];
  return [`${id ?? 'h'}${whole ?? digest(answer.content)}`];
}

const taskKey = (sender: number, hash: number): string => `t${sender.toString(36)}.${hash.toString(36)}`;

/** Keys of the tasks that an answer passes on, and their names: program, opening of the parent, thread, and the key. */
export const taskNames = (
  { program, opening, sender, thread }: Answered,
  answer: CanonicalMessage,
): [string, string][] =>
  passedOn(answer).map((task) => {
    const key = taskKey(sender, task.hash);
    return [key, [program, opening, threadOf(thread, task), key].join('\n')];
  });

/** The key of the task that the name belongs to. It is used once: a stranger may happen to ask the same. */
export const usedTask = (name: string): string | undefined => name.split('\n')[3];

/** Keys of the tasks of a conversation's last answer: its program waits for them no more. */
export function doneTasks(trail: Trail): string[] {
  const last = trail.turns.findLastIndex(({ role }) => role === 'assistant');
  return last < 0 ? [] : passedOn(trail.said(last)).map(({ hash }) => taskKey(trail.sender, hash));
}

/** Keys of the tasks with which a conversation without answers may begin. */
function soughtTasks(trail: Trail): string[] {
  const first = trail.turns.findIndex(({ role }) => !isSystem(role));
  if (first < 0 || trail.turns.some(({ role }) => role === 'assistant')) return [];
  const { content } = trail.said(first);
  const whole = content.length > WHOLE_CHARS_MAX ? [] : [hashOf(content.trim())];
  const hashes = [...whole, ...linesIn(content).map(({ at, end }) => hashOf(content, at, end))];
  return hashes.slice(0, TASKS_MAX).map((hash) => taskKey(trail.sender, hash));
}

/** The identity that a name gives a call. A run that begins like the parent is no sub-agent, and stays as it was. */
export function identityBy(name: string, sought: Sought, own: Identity): Identity {
  const [named = '', parent, thread = own.thread] = name.split('\n');
  if (parent !== undefined && Number(parent) === sought.opening) return own;
  const program = programId(named);
  const leaf = own.leaf && { ...own.leaf, thread };
  return { ...own, program, thread, label: labelOf(program), source: sought.source, leaf };
}
