import type { JsonObject } from '../../../sidecar/apis/index.js';
import { itemsOf, type Run } from './replay.js';

/**
 * Requests of clients, reduced to the parts that distinguish their programs. Recorded from the clients themselves:
 * aider 0.86.2, smolagents 1.26.0, dspy 3.4.1, pydantic-ai 2.x and those of the standard loop below.
 */
const system = { role: 'system', content: 'You are an agent. Use the tools.' };
const user = (content: unknown): JsonObject => ({ role: 'user', content });
const said = (content: string): JsonObject => ({ role: 'assistant', content });
const parts = (text: string) => [{ type: 'text', text }];

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
const callsOf = (message: JsonObject): readonly ToolCall[] => (message['tool_calls'] as ToolCall[] | undefined) ?? [];
const textOf = (message: JsonObject): string => (message['content'] as string | null) ?? '';
const resultsOf = (message: JsonObject): JsonObject[] =>
  callsOf(message).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'sun' }));

/** Variation of the standard loop. */
export interface Loop {
  /** Form in which the client sends an answer back. */
  readonly back?: (message: JsonObject) => JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fields?: JsonObject;
  /** Number of user turns after the first. */
  readonly more?: number;
}

/** The whole conversation in each call, with our answers: pydantic-ai, autogen, ag2, langgraph, AI SDK, agents SDKs. */
export function* loop(
  task: string,
  { back = (message) => message, headers = {}, fields = {}, more = 1 }: Loop = {},
): Run {
  const messages: JsonObject[] = [system, user(task)];
  for (let turn = 0; turn <= more; turn += 1) {
    if (turn > 0) messages.push(user('And tomorrow?'));
    for (let calling = true; calling;) {
      const message: JsonObject = yield { headers, body: { ...fields, messages: [...messages] } };
      messages.push({ role: 'assistant', ...back(message) }, ...resultsOf(message));
      calling = callsOf(message).length > 0;
    }
  }
}

/** The same loop over the responses API, with all items in each call; reasoning items are omitted or kept. */
export function* itemLoop(task: string): Run {
  const input: JsonObject[] = [user(task)];
  for (let turn = 0; turn < 2; turn += 1) {
    if (turn > 0) input.push(user('And tomorrow?'));
    for (let calling = true; calling;) {
      const message: JsonObject = yield {
        path: '/v1/responses',
        body: { instructions: 'You help.', input: [...input] },
      };
      input.push({ type: 'reasoning', id: 'rs', summary: [] }, ...itemsOf(message));
      for (const { id } of callsOf(message)) input.push({ type: 'function_call_output', call_id: id, output: 'sun' });
      calling = callsOf(message).length > 0;
    }
  }
}

/** smolagents' ToolCallingAgent: tool calls return as text in Python's notation, results as user messages. */
export function* smolTools(task: string): Run {
  const messages: JsonObject[] = [
    { role: 'system', content: parts('Use the tools.') },
    user(parts(`New task:\n${task}`)),
  ];
  for (let calling = true; calling;) {
    const message: JsonObject = yield { body: { messages: [...messages] } };
    const printed = callsOf(message).map(
      ({ id, function: { name, arguments: given } }) =>
        `{'id': '${id}', 'type': 'function', 'function': {'name': '${name}', 'arguments': ${given.replaceAll('"', "'")}}}`,
    );
    const text = `${message['content'] === null ? '' : `${textOf(message)}\n`}Calling tools:\n[${printed.join(', ')}]`;
    messages.push({ role: 'assistant', content: parts(text) }, user(parts('Observation:\nsun')));
    calling = callsOf(message).length > 0;
  }
}

/** smolagents' CodeAgent: appends to the answer the tag that the stop string cut off, and a call of its own. */
export function* smolCode(task: string): Run {
  const messages: JsonObject[] = [{ role: 'system', content: parts('Write code.') }, user(parts(`New task:\n${task}`))];
  for (let step = 0; step < 4; step += 1) {
    const message: JsonObject = yield { body: { messages: [...messages], stop: ['Observation:', '</code>'] } };
    const call = `[{'id': 'call_${step + 1}', 'type': 'function', 'function': {'name': 'python_interpreter', 'arguments': 'print(1)'}}]`;
    const text = `${textOf(message)}</code>\nCalling tools:\n${call}`;
    messages.push({ role: 'assistant', content: parts(text) }, user(parts('Observation:\nExecution logs:\n1')));
  }
}

const ENDING =
  'then `[[ ## next_tool_args ## ]]` (must be a valid Python dict[str, Any]), and then ending with the marker for `[[ ## completed ## ]]`.';

/** dspy's ReAct: a system prompt and one user message with the whole history; finally an extracting call. */
export function* dspyReact(task: string): Run {
  const question = `[[ ## question ## ]]\n${task}\n\n[[ ## trajectory ## ]]\n`;
  const ask = (trajectory: string, kind: string, fields: string) => ({
    body: {
      messages: [
        { role: 'system', content: `Your input fields are: question, trajectory. ${kind}` },
        user(
          `${question}${trajectory}\n\nRespond with the corresponding output fields, starting with the field ${fields}, ${ENDING}`,
        ),
      ],
    },
  });
  let trajectory = '\n';
  for (let step = 0; step < 4; step += 1) {
    const message: JsonObject = yield ask(trajectory, 'Use the tools.', '`[[ ## next_thought ## ]]`');
    const [, thought = '', name = '', given = ''] = textOf(message)
      .split(/\[\[ ## \w+ ## \]\]\n/)
      .map((text) => text.trim());
    const printed = { thought, tool_name: name, tool_args: given, observation: 'sun' };
    const told = Object.entries(printed).map(([field, text]) => `[[ ## ${field}_${step} ## ]]\n${text}`);
    trajectory = `${trajectory.trimStart()}${step === 0 ? '' : '\n\n'}${told.join('\n\n')}`;
  }
  yield ask(trajectory, 'Produce the answer.', '`[[ ## reasoning ## ]]`');
}

/** Questions about one long document, from unrelated callers. */
export function* askOf(document: string, question: string): Run {
  yield { body: { messages: [system, user(`${document}\n\n${question}`)] } };
}

/** A prompt with worked examples, which the model repeats verbatim. */
export function* withExamples(question: string, example: string): Run {
  yield { body: { messages: [system, user('An example?'), said(example), user(question)] } };
}

const RULES = `\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block must use this format. ${'Only ever return code in one. '.repeat(40)}`;
const ok = said('Ok.');

/**
 * aider: worked examples come first, edited files follow the finished turns, and rules follow the last user message.
 * After each edit, a separate call asks for a commit message and quotes the edit.
 */
export function* aider(task: string): Run {
  const examples = [
    user('Change get_factorial() to use math.factorial'),
    said('To make this change we need to modify `app.py`. '.repeat(4)),
  ];
  const files = (edits: number) => [
    user(`I have *added these files to the chat*.\n\nf.py\n\`\`\`\ndef f():\n    return ${edits}\n\`\`\``),
    said('Ok, any changes I propose will be to those files.'),
  ];
  const done: JsonObject[] = [];
  let open: JsonObject[] = [];
  let asked = `Change f to ${task}`;
  for (let edit = 0; edit < 3; edit += 1) {
    const before = [system, ...examples, user('I switched to a new code base.'), ok];
    const messages = [...before, ...done, ...files(edit), ...open, user(`${asked}${RULES}`)];
    const message: JsonObject = yield { body: { messages } };
    const quoted = `\nUSER: ${asked}\n\nASSISTANT: ${textOf(message)}\n\n# Diffs:\ndiff --git a/f.py b/f.py\n+    return ${edit + 1}`;
    const commit: JsonObject = yield {
      body: { messages: [{ role: 'system', content: 'Write a commit message.' }, user(quoted)] },
    };
    done.push(...open, user(asked), said(textOf(message)), user(`I committed the changes: ${textOf(commit)}`), ok);
    asked = 'I ran this command:\n\ngrep -q "return 4" f.py\n\nAnd got this output:\n';
    open = [user(asked), ok];
  }
}
