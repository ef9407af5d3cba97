import { type AgentCall, type AgentProgram, callAt } from '../workloads/index.js';
import type { Answer, LoadApi, Message, ToolCall } from './apis/api.js';
import { seedOf, type Made, type Words } from './words.js';

/** Tokens that a target's chat template adds to the text. */
export interface Template {
  /** For a prompt of one user message. */
  readonly opening: number;
  /** For a system message before it. */
  readonly system: number;
  /** For an answer and the next user message. */
  readonly turn: number;
}

export interface Style {
  readonly api: LoadApi;
  readonly words: Words;
  readonly template: Template;
  /** Makes the texts of this run and target differ from those of others, recorded ones too. */
  readonly salt: string;
  readonly recordedAnswers: boolean;
  readonly offersTools: boolean;
}

/** One message after those before it. Conversations with a common beginning share its messages. */
interface Turn {
  readonly before: Turn | undefined;
  readonly item: string;
  /** The parts of a made text; undefined for recorded text and answers. */
  readonly made?: readonly Made[];
  /** Tokens of the prompt up to the end of this text, without the rest of the template; NaN when unknown. */
  readonly endTokens: number;
}

interface Said {
  readonly prompt: Turn;
  promptTokens: number;
  answer: Answer | undefined;
}

export type Prompt = Readonly<ReturnType<Conversations['prompt']>>;

/** Stands in for a tool's missing result: an API requires one for every call. */
const NO_RESULT = '(no output)';

/**
 * The conversations of one program: each call continues an earlier one, with the answer received, or opens one.
 *
 *     call 0    [ system "s" ][ user ]            ─▶ answer 0
 *     call 1    [ system "s" ][ user ][ answer 0 ][ user ]   ─▶ answer 1
 *     call 2    [ system "s" ][ us                            (keeps some tokens of call 0, and goes on otherwise)
 */
export class Conversations {
  readonly #said: (Said | undefined)[] = [];
  readonly #tools: readonly string[];

  constructor(
    private readonly program: AgentProgram,
    private readonly style: Style,
  ) {
    const isSpoken = program.calls.some(({ messages }) => messages !== undefined);
    const names = program.calls.flatMap(({ tools = [] }) => tools.map(({ name }) => name));
    this.#tools = isSpoken && (style.offersTools || style.recordedAnswers) ? [...new Set(names)] : [];
  }

  /** The prompt of a call. Every call that it continues must have its answer. */
  prompt(index: number) {
    const call = callAt(this.program, index);
    const last = call.messages === undefined ? this.#make(call, index) : this.#speak(call, call.messages);
    /** Intended length in tokens; NaN for recorded text. */
    const promptTokens = call.messages === undefined ? Math.max(1, call.promptTokens) : NaN;
    this.#said[index] = { prompt: last, promptTokens, answer: undefined };
    const items: string[] = [];
    for (let turn: Turn | undefined = last; turn !== undefined; turn = turn.before) items.push(turn.item);
    return { items: items.reverse(), tools: this.#tools, promptTokens };
  }

  answered(index: number, answer: Answer): void {
    const said = this.#said[index];
    if (said === undefined) return;
    said.answer = answer;
    // The target's own count of its prompts is best; an error in one call is corrected in the next.
    if (!Number.isNaN(answer.promptTokens)) said.promptTokens = answer.promptTokens;
  }

  #speak({ prefix }: AgentCall, messages: NonNullable<AgentCall['messages']>): Turn {
    let last: Turn | undefined;
    let calls: readonly ToolCall[] = [];
    if (prefix !== undefined && 'call' in prefix) {
      calls = this.#toolCalls(prefix.call);
      last = this.#withAnswer(prefix.call);
    }
    const waiting = [...calls];
    for (const { role, content, tool } of messages) {
      const text = last === undefined ? `[${this.style.salt}]\n${content}` : content;
      if (role !== 'tool') {
        // An API requires the results directly after the calls.
        last = this.#noResults(last, waiting.splice(0));
        last = this.#add(last, { role, text });
        continue;
      }
      const named = waiting.findIndex(({ id }) => id === tool);
      const [use] = waiting.splice(Math.max(0, named), 1);
      // The target called fewer tools than the recording, or none. The user's message then carries the tool's result.
      last = this.#add(last, use === undefined ? { role: 'user', text } : { role, text, toolId: use.id });
    }
    last = this.#noResults(last, waiting);
    return last ?? this.#add(undefined, { role: 'user', text: '' });
  }

  #noResults(last: Turn | undefined, calls: readonly ToolCall[]): Turn | undefined {
    return calls.reduce<Turn | undefined>(
      (at, { id }) => this.#add(at, { role: 'tool', text: NO_RESULT, toolId: id }),
      last,
    );
  }

  #toolCalls(index: number): readonly ToolCall[] {
    const { tools = [], answer } = callAt(this.program, index);
    if (!this.style.recordedAnswers || answer === undefined) return this.#said[index]?.answer?.toolCalls ?? [];
    return tools.flatMap(({ id, name, arguments: json = '{}' }) =>
      id === undefined ? [] : [{ id, name, arguments: json }],
    );
  }

  #withAnswer(index: number): Turn | undefined {
    const said = this.#said[index];
    if (said === undefined) return undefined;
    const recorded = this.style.recordedAnswers ? callAt(this.program, index).answer : undefined;
    const text = recorded ?? said.answer?.text ?? '';
    const tokens = said.promptTokens + (said.answer?.outputTokens ?? NaN);
    return this.#add(said.prompt, { role: 'assistant', text, toolCalls: this.#toolCalls(index) }, tokens);
  }

  #add(before: Turn | undefined, message: Message, endTokens = NaN): Turn {
    return { before, item: this.style.api.item(message), endTokens };
  }

  /** Text of exactly the intended number of tokens, with the intended beginning. */
  #make({ prefix, promptTokens }: AgentCall, index: number): Turn {
    const own = seedOf(this.style.salt, this.program.id, index);
    const { opening, system } = this.style.template;
    const { words } = this.style;
    if (prefix === undefined) return this.#open(own, promptTokens);
    if ('blocks' in prefix) return this.#blocks(prefix, promptTokens);
    if ('call' in prefix) return this.#goOn(prefix, promptTokens, own);
    const seed = seedOf(this.style.salt, prefix.name);
    const rest = promptTokens - prefix.tokens - opening;
    const shared = prefix.tokens - system;
    if (rest < 1 || shared < 1) {
      // No room for two messages: a single one begins with the shared text.
      const all = words.wordsFor(promptTokens - opening);
      const first = Math.min(all, words.wordsFor(prefix.tokens));
      const parts = [first, all - first].map((count, at) => ({ seed: at === 0 ? seed : own, words: count }));
      return this.#user(undefined, parts, promptTokens);
    }
    const text = words.text({ seed, words: words.wordsFor(shared) });
    const before = this.#add(undefined, { role: 'system', text, isPlain: true }, prefix.tokens);
    return this.#user(before, [{ seed: own, words: words.wordsFor(rest) }], promptTokens);
  }

  #open(seed: number, promptTokens: number): Turn {
    const { words, template } = this.style;
    return this.#user(undefined, [{ seed, words: words.wordsFor(promptTokens - template.opening) }], promptTokens);
  }

  #user(before: Turn | undefined, made: readonly Made[], promptTokens: number): Turn {
    const parts = made.filter(({ words }) => words > 0);
    const text = parts.map((part) => this.style.words.text(part)).join(' ');
    return { ...this.#add(before, { role: 'user', text, isPlain: true }, promptTokens), made: parts };
  }

  /** The template's tokens are deducted from the first block, so that later blocks begin at the right token. */
  #blocks({ blocks, blockTokens }: { blocks: readonly number[]; blockTokens: number }, promptTokens: number): Turn {
    const { words, template, salt } = this.style;
    let left = words.wordsFor(promptTokens - template.opening);
    const made: Made[] = [];
    for (const [at, block] of blocks.entries()) {
      const room = words.wordsFor(blockTokens - (at === 0 ? template.opening : 0));
      const count = at === blocks.length - 1 ? left : Math.min(left, room);
      made.push({ seed: seedOf(salt, 'block', block), words: count });
      left -= count;
    }
    if (made.length === 0) made.push({ seed: seedOf(salt, this.program.id), words: left });
    return this.#user(undefined, made, promptTokens);
  }

  /** Continues an earlier call: after its answer, or from a point in its prompt. */
  #goOn({ call, tokens }: { call: number; tokens: number }, promptTokens: number, seed: number): Turn {
    const said = this.#said[call];
    const { words, template } = this.style;
    if (said === undefined) return this.#open(seed, promptTokens);
    const withAnswer = said.promptTokens + (said.answer?.outputTokens ?? 0);
    const rest = promptTokens - withAnswer - template.turn;
    if (tokens > callAt(this.program, call).promptTokens && rest >= 1)
      return this.#user(this.#withAnswer(call), [{ seed, words: words.wordsFor(rest) }], promptTokens);
    return this.#branch(said.prompt, Math.min(tokens, promptTokens), promptTokens, seed);
  }

  /**
   * A prompt that equals another one for `keptTokens` tokens, then differs within the message at that point. An answer
   * cannot be cut, so if the point lies in an answer, the message before it differs.
   */
  #branch(prompt: Turn, keptTokens: number, promptTokens: number, seed: number): Turn {
    const { words } = this.style;
    for (let turn: Turn | undefined = prompt; turn !== undefined; turn = turn.before) {
      const size = (turn.made ?? []).reduce((sum, part) => sum + part.words, 0) * words.tokensPerWord;
      if (turn.made === undefined || (turn.before !== undefined && turn.endTokens - size >= keptTokens)) continue;
      const cutTokens = Math.max(0, turn.endTokens - keptTokens);
      const kept = cut(turn.made, Math.max(0, Math.round((size - cutTokens) / words.tokensPerWord)));
      const keptWords = kept.reduce((sum, part) => sum + part.words, 0);
      const all = words.wordsFor(promptTokens - (turn.endTokens - size));
      const made = all <= keptWords ? cut(kept, all) : [...kept, { seed, words: all - keptWords }];
      return this.#user(turn.before, made, promptTokens);
    }
    return this.#open(seed, promptTokens);
  }
}

function cut(made: readonly Made[], words: number): Made[] {
  let left = words;
  const kept: Made[] = [];
  for (const part of made) {
    if (left <= 0) break;
    kept.push({ seed: part.seed, words: Math.min(left, part.words) });
    left -= part.words;
  }
  return kept;
}
