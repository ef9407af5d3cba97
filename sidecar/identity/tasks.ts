import type { ProgramId, TenantId } from '../../src/index.js';
import type { CanonicalMessage } from '../apis/api.js';
import { asksForTools } from '../apis/canonical.js';
import { parseObject } from '../apis/fields.js';
import type { Ends, Excerpt } from './memory.js';
import { Excerpts, leadOf, type Text } from './texts.js';
import { hashOf } from './growing.js';
import { inAll } from './marked.js';
import { cleanId } from './names.js';
import type { Answered } from './seats.js';

/** Longest arguments of a tool call that are read, most texts remembered of an answer, and the depth of these. */
const ARGUMENTS_CHARS_MAX = 16_384;
const TASKS_MAX = 16;
const DEPTH_MAX = 4;
const TASK_CHARS_MIN = 24;
/** Conversations that may begin with one task; a stranger who happens to ask the same takes one. */
const BEGUN_MAX = 8;
/** Names of four characters, by which sub-agents of one tool are told apart. */
const NAMES = 36 ** 4;
/** Sentences in letters have words with spaces between them; paths and names of files do not. */
const IS_SENTENCE = /\S\s+\S+\s+\S|[^\p{ASCII}]{8}/u;

interface Task extends Excerpt {
  readonly parent: Answered;
  readonly tool: string;
  /** Conversations that have begun with it. */
  begun: number;
}

/** Sub-agents made by a tool: their first message holds what the parent, which waits, has passed to the tool. */
export class Tasks {
  readonly #tasks: Excerpts<Task>;

  constructor(max: number, ends: Ends) {
    this.#tasks = new Excerpts(max, ends);
  }

  remember(tenant: TenantId, answer: CanonicalMessage, parent: Answered): void {
    for (const { text, tool, hash } of passedOn(answer)) {
      const line = leadOf(text);
      if (!line) continue;
      const { program, stamp } = parent;
      const { at } = line;
      this.#tasks.sit(tenant, line.hash, { program, stamp, hash, chars: text.length, at, parent, tool, begun: 0 });
    }
  }

  /**
   * The sub-agent that begins with this message, if exactly one waiting program has passed all the texts in it to tools.
   * @param by how the call begins, and its client: one that begins like the parent is another run of it
   */
  find(
    tenant: TenantId,
    said: Text,
    by: Pick<Answered, 'opening' | 'sender'>,
    only: ProgramId | undefined,
  ): Pick<Answered, 'program' | 'thread'> | undefined {
    const tasks = this.#tasks
      .in(tenant, said.content, said.lines)
      .filter(({ parent, begun }) => parent.taken === undefined && begun < BEGUN_MAX && parent.sender === by.sender);
    const program = inAll(tasks)?.program;
    const [task] = tasks.filter((each) => each.program === program).toSorted((a, b) => b.chars - a.chars);
    if (!task || task.parent.opening === by.opening || (only ?? program) !== program) return undefined;
    task.begun += 1;
    return { program: task.program, thread: threadOf(task.parent.thread, task) };
  }
}

interface Passed extends Pick<Task, 'tool' | 'hash'> {
  readonly text: string;
}

/**
 * The thread of the sub-agent that works on a text. Those of one tool are told apart by their tasks.
 * @param parent thread of the answer: the threads of its sub-agents follow it after a slash
 */
export function threadOf(parent: string, { tool, hash }: Pick<Passed, 'tool' | 'hash'>): string {
  const own = `${tool}-${(hash % NAMES).toString(36)}`;
  return cleanId(parent === '' ? own : `${parent}/${own}`) ?? own;
}

export function passedOn(answer: CanonicalMessage): Passed[] {
  if (!asksForTools(answer)) return [];
  const [, ...calls] = answer.content.split('\u0000');
  const passed: Passed[] = [];
  for (let i = 0; i + 1 < calls.length; i += 2) {
    const [tool = '', given = ''] = calls.slice(i, i + 2);
    if (given.length < TASK_CHARS_MIN || given.length > ARGUMENTS_CHARS_MAX || !given.includes(' ')) continue;
    // A tool of free text gets it as it is.
    for (const said of stringsIn(parseObject(given) ?? given)) {
      const text = said.trim();
      if (text.length < TASK_CHARS_MIN || !IS_SENTENCE.test(text)) continue;
      passed.push({ text, tool, hash: hashOf(text) });
      if (passed.length === TASKS_MAX) return passed;
    }
  }
  return passed;
}

function* stringsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const inner of Object.values(value)) yield* stringsIn(inner, depth + 1);
}
