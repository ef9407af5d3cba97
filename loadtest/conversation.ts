import type { AgentCall, AgentProgram } from '../workloads/index.js';
import type { Answer, LoadApi, Message, ToolCall } from './apis/api.js';
import { seedOf, type Made, type Words } from './words.js';

/** Tokens that a target's chat template adds to what is said. */
export interface Template {
  /** To a prompt of one message of the user. */
  readonly opening: number;
  /** For a system message before it. */
  readonly system: number;
  /** For an answer and the next message of the user. */
  readonly turn: number;
}

/** What all conversations of a run with one target have in common. */
export interface Style {
  readonly api: LoadApi;
  readonly words: Words;
  readonly template: Template;
  /** Sets the texts of this run and target apart from those of others. */
  readonly salt: string;
  /** The salt also stands before words that were recorded. */
  readonly isSalted: boolean;
  readonly recordedAnswers: boolean;
  /** The target can be offered tools. */
  readonly offersTools: boolean;
}

/** One message, behind those before it. Conversations that begin alike share what they have in common. */
interface Turn {
  readonly before: Turn | undefined;
  readonly item: string;
  /** What it was made of; undefined for what was said. */
  readonly made?: readonly Made[];
  /** Tokens of the prompt up to the end of this text, without the rest of the template; NaN where nobody knows. */
  readonly endTokens: number;
}

/** What a call sent, and got. */
interface Said {
  readonly prompt: Turn;
  promptTokens: number;
  answer: Answer | undefined;
}

export interface Prompt {
  readonly items: readonly string[];
  readonly tools: readonly string[];
  /** Tokens it was made to have; NaN where it is what was recorded. */
  readonly promptTokens: number;
}

/** What was lost of a tool's result must not be missing: an API wants one for every call. */
const NO_RESULT = '(no output)';

/**
 * The conversations of one program: each call goes on from an earlier one, with the answer that it got, or opens one.
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

  /** What the call says; all that it goes on from must have its answer. */
  prompt(index: number): Prompt {
    const call = this.#call(index);
    const last = call.messages === undefined ? this.#make(call, index) : this.#speak(call, call.messages);
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
    // The target knows best how long its prompts are; a slip in one call is made good in the next.
    if (!Number.isNaN(answer.promptTokens)) said.promptTokens = answer.promptTokens;
  }

  #call(index: number): AgentCall {
    const call = this.program.calls[index];
    if (call === undefined) throw new RangeError(`program ${this.program.id} has no call ${index}`);
    return call;
  }

  /** Words that were recorded, behind the conversation that they go on from. */
  #speak({ prefix }: AgentCall, messages: NonNullable<AgentCall['messages']>): Turn {
    let last: Turn | undefined;
    let calls: readonly ToolCall[] = [];
    if (prefix !== undefined && 'call' in prefix) {
      calls = this.#toolCalls(prefix.call);
      last = this.#withAnswer(prefix.call);
    }
    const waiting = [...calls];
    for (const { role, content, tool } of messages) {
      const isFirst = last === undefined;
      const text = isFirst && this.style.isSalted ? `[${this.style.salt}]\n${content}` : content;
      if (role !== 'tool') {
        // An API wants the results right behind the calls.
        last = this.#noResults(last, waiting.splice(0));
        last = this.#add(last, { role, text });
        continue;
      }
      const named = waiting.findIndex(({ id }) => id === tool);
      const [use] = waiting.splice(Math.max(0, named), 1);
      // The target asked for no tool, or for fewer: what it would have learnt, it is told.
      last = this.#add(last, use === undefined ? { role: 'user', text } : { role, text, toolId: use.id });
    }
    last = this.#noResults(last, waiting);
    return last ?? this.#add(undefined, { role: 'user', text: '' });
  }

  #noResults(last: Turn | undefined, calls: readonly ToolCall[]): Turn | undefined {
    return calls.reduce<Turn | undefined>((at, { id }) => this.#add(at, { role: 'tool', text: NO_RESULT, toolId: id }), last); // prettier-ignore
  }

  #toolCalls(index: number): readonly ToolCall[] {
    if (!this.style.recordedAnswers) return this.#said[index]?.answer?.toolCalls ?? [];
    const { tools = [], answer } = this.#call(index);
    if (answer === undefined) return this.#said[index]?.answer?.toolCalls ?? [];
    return tools.flatMap(({ id, name, arguments: json = '{}' }) => (id === undefined ? [] : [{ id, name, arguments: json }])); // prettier-ignore
  }

  /** The conversation of a call with its answer. */
  #withAnswer(index: number): Turn | undefined {
    const said = this.#said[index];
    if (said === undefined) return undefined;
    const recorded = this.style.recordedAnswers ? this.#call(index).answer : undefined;
    const text = recorded ?? said.answer?.text ?? '';
    const tokens = said.promptTokens + (said.answer?.outputTokens ?? NaN);
    return this.#add(said.prompt, { role: 'assistant', text, toolCalls: this.#toolCalls(index) }, tokens);
  }

  #add(before: Turn | undefined, message: Message, endTokens = NaN): Turn {
    return { before, item: this.style.api.item(message), endTokens };
  }

  /** Text of exactly so many tokens, that begins as it should. */
  #make({ prefix, promptTokens }: AgentCall, index: number): Turn {
    const own = seedOf(this.style.salt, this.program.id, index);
    const { opening, system } = this.style.template;
    const { words } = this.style;
    if (prefix === undefined) return this.#user(undefined, [{ seed: own, words: words.wordsFor(promptTokens - opening) }], promptTokens); // prettier-ignore
    if ('blocks' in prefix) return this.#blocks(prefix, promptTokens);
    if ('call' in prefix) return this.#goOn(prefix, promptTokens, own);
    const seed = seedOf(this.style.salt, prefix.name);
    const rest = promptTokens - prefix.tokens - opening;
    const shared = prefix.tokens - system;
    if (rest < 1 || shared < 1) {
      // No room for two messages: the one begins with the shared text.
      const all = words.wordsFor(promptTokens - opening);
      const first = Math.min(all, words.wordsFor(prefix.tokens));
      return this.#user(
        undefined,
        [
          { seed, words: first },
          { seed: own, words: all - first },
        ],
        promptTokens,
      );
    }
    const text = words.text({ seed, words: words.wordsFor(shared) });
    const before = this.#add(undefined, { role: 'system', text, isPlain: true }, prefix.tokens);
    return this.#user(before, [{ seed: own, words: words.wordsFor(rest) }], promptTokens);
  }

  #user(before: Turn | undefined, made: readonly Made[], promptTokens: number): Turn {
    const parts = made.filter(({ words }) => words > 0);
    const text = parts.map((part) => this.style.words.text(part)).join(' ');
    return { ...this.#add(before, { role: 'user', text, isPlain: true }, promptTokens), made: parts };
  }

  /** The template's tokens are taken from the first block, so that each later one begins where it should. */
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

  /** Goes on from an earlier call: behind its answer, or from a place in its prompt. */
  #goOn({ call, tokens }: { call: number; tokens: number }, promptTokens: number, seed: number): Turn {
    const said = this.#said[call];
    const { words, template } = this.style;
    if (said === undefined) return this.#user(undefined, [{ seed, words: words.wordsFor(promptTokens - template.opening) }], promptTokens); // prettier-ignore
    const withAnswer = said.promptTokens + (said.answer?.outputTokens ?? 0);
    const rest = promptTokens - withAnswer - template.turn;
    if (tokens > this.#call(call).promptTokens && rest >= 1)
      return this.#user(this.#withAnswer(call), [{ seed, words: words.wordsFor(rest) }], promptTokens);
    return this.#branch(said.prompt, Math.min(tokens, promptTokens), promptTokens, seed);
  }

  /**
   * A prompt that is like another one for so many tokens: the message in which they end goes on otherwise. An answer
   * cannot be cut, so that where they end in one, the message before it goes on.
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
    return this.#user(undefined, [{ seed, words: words.wordsFor(promptTokens - this.style.template.opening) }], promptTokens); // prettier-ignore
  }
}

/** The first words of a text. */
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
