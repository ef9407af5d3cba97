import { StringDecoder } from 'node:string_decoder';
import { type Message, type Tool, compactJson, renderAnswer, type ToolCall } from './conversation.js';
import { prose, sampleOf } from './sample.js';
import { hashText, mix, BYTES_PER_TOKEN, MARKS, tokensOf } from './tokens.js';

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** A literal answer, given by the `script` of the engine. */
export interface ScriptedAnswer {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[];
  /** Tokens to spend on it, more or fewer than its text has; absent: as many as that. */
  readonly output_tokens?: number;
}

/** Gives the answer to a conversation; `undefined` leaves it to the engine. */
export type Script = (messages: readonly Message[], tools: readonly Tool[]) => ScriptedAnswer | undefined;

export interface Question {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  /** JSON schema that the text must satisfy, `{}` for any JSON object; absent: prose. */
  readonly schema?: unknown;
  /** Hash of the prompt, the engine's seed, and the index among the `n` answers. */
  readonly seed: number;
  /** Least length of a prose answer in tokens; above it the length is drawn from the seed. */
  readonly minTokens: number;
  /** Exact length of a prose answer; absent: drawn. */
  readonly exactTokens: number | undefined;
}

/** An answer before it is generated: text, calls without ids. */
export interface Chosen {
  readonly text: string;
  readonly toolCalls: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[];
}

/** Chooses the answer: the requested tool, the first tool while the turn has had few results, JSON, or prose. */
export function choose(question: Question): Chosen {
  const tool = chooseTool(question);
  if (tool !== undefined) {
    return { text: '', toolCalls: [{ name: tool.name, arguments: JSON.stringify(sampleOf(tool.parameters)) }] };
  }
  if (question.schema !== undefined) return { text: JSON.stringify(sampleOf(question.schema)), toolCalls: [] };
  const tokens = question.exactTokens ?? Math.max(question.minTokens, proseLength(question.seed));
  return { text: prose(question.seed, tokens), toolCalls: [] };
}

/** Tool results in a turn after which the engine answers with text. */
const TOOL_ROUNDS = 2;

function chooseTool({ tools, toolChoice, messages }: Question): Tool | undefined {
  if (typeof toolChoice === 'object') return tools.find((tool) => tool.name === toolChoice.name);
  if (toolChoice === 'required') return tools[0];
  return toolChoice === 'auto' && toolResultsOfTurn(messages) < TOOL_ROUNDS ? tools[0] : undefined;
}

function toolResultsOfTurn(messages: readonly Message[]): number {
  const turn = messages.findLastIndex((message) => message.role === 'user' && message.aside !== true);
  return messages.slice(turn + 1).filter((message) => message.role === 'tool').length;
}

/** 16 to 400 tokens, half of them below 90: the shape, if not the tail, of agents' real answers. */
function proseLength(seed: number): number {
  const uniform = (mix(seed, 0x1b873593) >>> 0) / 2 ** 32;
  return Math.round(16 * 25 ** (uniform ** 0.9));
}

export const questionSeed = (engineSeed: number, promptHash: number, choice: number): number =>
  hashText(`${engineSeed} ${promptHash} ${choice}`);

type FinishReason = 'stop' | 'length' | 'tool_calls';

export type Delta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly index: number; readonly call: ToolCall }
  | { readonly type: 'arguments'; readonly index: number; readonly text: string };

interface Span {
  /** First token of the span's text, and one past its last. */
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
  /** Bytes of text per token: more than usual where whitespace between JSON values is sent but not counted. */
  readonly bytesPerToken: number;
  /** Number of the tool call, -1 for the answer's text. */
  readonly call: number;
}

/** An answer cut into tokens: the token ids for the engine's cache, and the text sent after each of them. */
export class Answer {
  /** The tokens generated; its length is the answer's cost. */
  readonly ids: readonly number[];
  readonly finish: FinishReason;
  /** Number of the text's own tokens, its end mark included, and number of tokens that they are spread over. */
  readonly #natural: number;
  readonly #cost: number;
  readonly spans: readonly Span[];
  readonly calls: readonly ToolCall[];

  /** @param length least and most tokens, and the exact cost of the whole text; absent: as many tokens as it has */
  constructor(
    message: Message,
    length: { readonly min: number; readonly max: number; readonly cost?: number | undefined },
  ) {
    const ids = renderAnswer(message);
    this.#natural = ids.length;
    this.#cost = length.cost ?? Math.max(ids.length, length.min);
    const tokens = Math.min(this.#cost, length.max);
    // Padding comes last in the cache, so that the text itself is found there when it is sent back.
    while (ids.length < tokens) ids.push(MARKS.padding);
    ids.length = tokens;
    this.ids = ids;
    this.spans = spansOf(message);
    this.calls = message.toolCalls;
    if (tokens < this.#cost) this.finish = 'length';
    else this.finish = message.toolCalls.length > 0 ? 'tool_calls' : 'stop';
  }

  /** Position in the text, in the text's own tokens, after the first `count` tokens. */
  reach(count: number): number {
    return Math.floor((count * this.#natural) / this.#cost);
  }
}

function spansOf(message: Message): Span[] {
  const spans: Span[] = [];
  let at = 0;
  const add = (text: string, tokens: number, call: number): void => {
    const bytes = Buffer.from(text, 'utf8');
    const bytesPerToken = Math.max(BYTES_PER_TOKEN, Math.ceil(bytes.length / Math.max(1, tokens)));
    spans.push({ start: at, end: at + tokens, bytes, bytesPerToken, call });
    at += tokens;
  };
  add(message.text, tokensOf(message.text), -1);
  message.toolCalls.forEach((call, index) => {
    at += 2 + tokensOf(call.name);
    add(call.arguments, tokensOf(compactJson(call.arguments)), index);
  });
  return spans;
}

/** Reads an answer out as its tokens are generated, never splitting a character. */
export class Narrator {
  text = '';
  readonly calls: ToolCall[] = [];
  told = 0;
  #span = 0;
  #spanBytes = 0;
  #decoder = new StringDecoder('utf8');

  constructor(private readonly answer: Answer) {}

  tell(count: number): Delta[] {
    const deltas: Delta[] = [];
    this.told = count;
    const reach = this.answer.reach(count);
    for (let span = this.answer.spans[this.#span]; span !== undefined; span = this.answer.spans[this.#span]) {
      if (reach < span.start || (reach === span.start && span.end > span.start)) break;
      this.#announce(span, deltas);
      const until = Math.min((reach - span.start) * span.bytesPerToken, span.bytes.length);
      const text = this.#decoder.write(span.bytes.subarray(this.#spanBytes, until));
      this.#spanBytes = until;
      if (text !== '') this.#say(span, text, deltas);
      if (reach < span.end) break;
      this.#span += 1;
      this.#spanBytes = 0;
      this.#decoder = new StringDecoder('utf8');
    }
    return deltas;
  }

  #announce(span: Span, deltas: Delta[]): void {
    const call = this.answer.calls[span.call];
    if (call === undefined || this.calls.length > span.call) return;
    this.calls.push({ ...call, arguments: '' });
    deltas.push({ type: 'call', index: span.call, call });
  }

  #say(span: Span, text: string, deltas: Delta[]): void {
    const call = this.calls[span.call];
    if (call === undefined) {
      this.text += text;
      deltas.push({ type: 'text', text });
    } else {
      this.calls[span.call] = { ...call, arguments: call.arguments + text };
      deltas.push({ type: 'arguments', index: span.call, text });
    }
  }
}
