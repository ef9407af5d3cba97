import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import { parseObject } from '../apis/fields.js';
import type { Ends } from './ends.js';
import { Excerpts } from './excerpts.js';
import type { Excerpt } from './excerpts.js';
import { hashOf } from './growing.js';
import { leadOf } from './lines.js';
import type { Text } from './lines.js';
import { cleanId } from './names.js';
import type { Answered } from './seats.js';
import { digest } from './trail.js';

/** Longest arguments of a tool call that are read, most texts remembered of an answer, and the depth of these. */
const ARGUMENTS_CHARS_MAX = 16_384;
const TASKS_MAX = 16;
const DEPTH_MAX = 4;
const TASK_CHARS_MIN = 24;
/** Sentences in letters have words with spaces between them; paths and names of files do not. */
const IS_SENTENCE = /\S\s+\S+\s+\S|[^\p{ASCII}]{8}/u;

/** A text that an answer has passed to a tool. */
interface Task extends Excerpt {
  readonly parent: Answered;
  /** Thread of the sub-agent that works on it. */
  readonly thread: string;
}

/** A sub-agent. */
type Sub = Pick<Answered, 'program' | 'thread'>;

/**
 * Sub-agents, whose client makes them by a tool: the first message of a sub-agent holds what its parent has passed to
 * the tool, while the parent waits for the result.
 */
export class Tasks {
  readonly #tasks: Excerpts<Task>;

  constructor(max: number, ends: Ends) {
    this.#tasks = new Excerpts(max, ends);
  }

  remember(tenant: TenantId, answer: CanonicalMessage, parent: Answered): void {
    for (const { tool, text } of passedIn(answer)) {
      const line = leadOf(text);
      if (!line) continue;
      const { program, stamp } = parent;
      const told = { hash: digest(text), chars: text.length, at: line.at };
      this.#tasks.remember(tenant, line.hash, {
        program,
        stamp,
        ...told,
        parent,
        thread: threadOf(parent, tool, text),
      });
    }
  }

  /**
   * The sub-agent that begins with this message, if exactly one waiting program has passed a text in it to a tool.
   * @param opening that of the call: one that begins like the parent is another run of it
   */
  find(tenant: TenantId, said: Text, opening: number, only: ProgramId | undefined): Sub | undefined {
    const tasks = this.#tasks.in(tenant, said.content, said.lines);
    const waiting = tasks.filter(({ parent }) => parent.taken === undefined);
    const [task] = waiting.toSorted((a, b) => b.chars - a.chars);
    if (!task || waiting.some(({ program }) => program !== task.program)) return undefined;
    const { program, parent, thread } = task;
    if (parent.opening === opening || (only ?? program) !== program) return undefined;
    return { program, thread };
  }
}

/** The texts in an answer's tool calls, with the tools' names. */
function passedIn({ content }: CanonicalMessage): { tool: string; text: string }[] {
  if (!content.includes('\u0000')) return [];
  const [, ...calls] = content.split('\u0000');
  const passed: { tool: string; text: string }[] = [];
  for (let i = 0; i + 1 < calls.length; i += 2) {
    const [tool = '', given = ''] = calls.slice(i, i + 2);
    if (given.length < TASK_CHARS_MIN || given.length > ARGUMENTS_CHARS_MAX || !given.includes(' ')) continue;
    // A tool of free text gets it as it is.
    for (const text of stringsIn(parseObject(given) ?? given)) passed.push({ tool, text: text.trim() });
  }
  return passed.filter(({ text }) => text.length >= TASK_CHARS_MIN && IS_SENTENCE.test(text)).slice(0, TASKS_MAX);
}

function* stringsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const inner of Object.values(value)) yield* stringsIn(inner, depth + 1);
}

/** Of four characters each. */
const NAMES = 36 ** 4;

/** Sub-agents of one tool are told apart by their tasks. A sub-agent's own one follows a slash. */
function threadOf({ thread }: Answered, tool: string, text: string): string {
  const own = `${tool}-${(hashOf(text) % NAMES).toString(36)}`;
  return cleanId(thread === '' ? own : `${thread}/${own}`) ?? own;
}
