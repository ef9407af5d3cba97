import { StringDecoder } from 'node:string_decoder';
import { compactJson, renderAnswer, type Message, type ToolCall } from './conversation.js';
import { BYTES_PER_TOKEN, MARKS, tokensOf } from './tokens.js';

export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** A piece of an answer as it appears. */
export type Delta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly index: number; readonly call: ToolCall }
  | { readonly type: 'arguments'; readonly index: number; readonly text: string };

/** Bounds on the length of an answer, in tokens. */
export interface Length {
  /** Longer answers are cut. */
  readonly max: number;
  /** Shorter answers are padded after their text. */
  readonly min: number;
  /** Exact cost of the whole text, more or fewer tokens than it has; absent: as many as it has. */
  readonly cost: number | undefined;
}

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
  readonly #spans: readonly Span[];
  readonly #calls: readonly ToolCall[];

  constructor(message: Message, length: Length) {
    const ids = renderAnswer(message);
    this.#natural = ids.length;
    this.#cost = length.cost ?? Math.max(ids.length, length.min);
    const tokens = Math.min(this.#cost, length.max);
    // Padding comes last in the cache, so that the text itself is found there when it is sent back.
    while (ids.length < tokens) ids.push(MARKS.padding);
    ids.length = tokens;
    this.ids = ids;
    this.#spans = spansOf(message);
    this.#calls = message.toolCalls;
    if (tokens < this.#cost) this.finish = 'length';
    else this.finish = message.toolCalls.length > 0 ? 'tool_calls' : 'stop';
  }

  /** Position in the text, in the text's own tokens, after the first `count` tokens. */
  reach(count: number): number {
    return Math.floor((count * this.#natural) / this.#cost);
  }

  get spans(): readonly Span[] {
    return this.#spans;
  }

  call(index: number): ToolCall | undefined {
    return this.#calls[index];
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
  /** The text sent so far. */
  text = '';
  readonly calls: ToolCall[] = [];
  /** Tokens read out. */
  told = 0;
  #span = 0;
  #spanBytes = 0;
  #decoder = new StringDecoder('utf8');

  constructor(private readonly answer: Answer) {}

  /** The new text of the tokens up to `count`. */
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
    const call = this.answer.call(span.call);
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
