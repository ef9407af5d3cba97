import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Dispatcher } from 'undici';

/**
 * How a call looks to its client:
 * - `whole`: it has said that it is complete, in its API's own way
 * - `told`: an error status, or an error event
 * - `broken`: the connection broke before the end
 * - `silent`: it ended in order, and is neither whole nor an error
 * - `hung`: nothing came for too long, not even a comment
 * - `left`: the client went away
 */
export const VERDICTS = ['whole', 'told', 'broken', 'silent', 'hung', 'left'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Ask {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Watch {
  /** Longest silence that the client bears. */
  readonly silenceMsMax: number;
  /** The client goes away. */
  readonly leave?: AbortSignal;
  /** Told of each event: how many there have been. True: read no further for a second. */
  readonly seen?: (events: number) => boolean | undefined;
}

export interface Answer {
  readonly verdict: Verdict;
  /** 0: none came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly events: number;
  readonly text: string;
  /** Ids that its events carry: more than one, and it is of more than one answer. */
  readonly ids: ReadonlySet<string>;
  /** As its usage says; undefined: it says nothing. */
  readonly outputTokens: number | undefined;
  /** The error it was told, or how its connection broke. */
  readonly error: string;
}

const PAUSE_MS = 1000;
const LEFT = new Error('the client left');
const HUNG = new Error('nothing came for too long');

/** One call as a client makes it. */
export function exchange(dispatcher: Dispatcher, { path, headers, body }: Ask, watch: Watch): Promise<Answer> {
  return new Promise((resolve) => {
    const handler = new Client(watch, resolve);
    const all = { 'content-type': 'application/json', ...headers };
    dispatcher.dispatch({ method: 'POST', path, headers: all, body }, handler);
  });
}

class Client implements Dispatcher.DispatchHandler {
  #status = 0;
  #headers: Answer['headers'] = {};
  #whole = '';
  #streams = false;
  #events = 0;
  #error: string | undefined;
  #complete = false;
  readonly #text: string[] = [];
  readonly #ids = new Set<string>();
  #outputTokens: number | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: (event) => this.#take(event) });
  readonly #leave = () => this.#controller?.abort(LEFT);

  constructor(
    private readonly watch: Watch,
    private readonly resolve: (answer: Answer) => void,
  ) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#timer ??= setTimeout(() => controller.abort(HUNG), this.watch.silenceMsMax);
    if (this.watch.leave?.aborted === true) controller.abort(LEFT);
    else this.watch.leave?.addEventListener('abort', this.#leave);
  }

  onResponseStart(_: unknown, status: number, headers: Answer['headers']): void {
    this.#status = status;
    this.#headers = headers;
    this.#streams = String(headers['content-type']).startsWith('text/event-stream');
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#timer?.refresh();
    const text = this.#decoder.decode(chunk, { stream: true });
    if (this.#streams) this.#parser.feed(text);
    else this.#whole += text;
  }

  onResponseEnd(): void {
    if (!this.#streams) this.#read(parse(this.#whole), this.#status < 400);
    // A faulty engine may cut the body of its own refusal: the status tells the client enough. A 5xx is the gateway's.
    if (this.#status >= 400 && this.#status < 500) this.#error ??= 'no error body';
    if (this.#error !== undefined) return this.#end('told');
    this.#end(this.#complete && this.#status < 500 ? 'whole' : 'silent');
  }

  onResponseError(_: unknown, error: Error): void {
    if (error === LEFT) return this.#end('left');
    if (error === HUNG) return this.#end('hung');
    this.#end(this.#error === undefined ? 'broken' : 'told', error.message);
  }

  #take({ data }: EventSourceMessage): void {
    this.#events += 1;
    if (data === '[DONE]') this.#complete = true;
    else this.#read(parse(data), false);
    if (this.watch.seen?.(this.#events) !== true) return;
    this.#controller?.pause();
    setTimeout(() => this.#controller?.resume(), PAUSE_MS);
  }

  /** An event or a whole answer of any of the three APIs: their fields do not contradict each other. */
  #read(value: Fields | undefined, whole: boolean): void {
    if (value === undefined) return;
    const { type, error, id, choices, delta, response, message, content, output } = value;
    if (error || type === 'error' || type === 'response.failed') this.#error ??= JSON.stringify(error ?? response?.error ?? {}); // prettier-ignore
    const [choice] = choices ?? [];
    const own = id ?? response?.id ?? message?.id;
    if (own !== undefined) this.#ids.add(own);
    const said =
      choice?.delta?.content ?? choice?.message?.content ?? (typeof delta === 'string' ? delta : delta?.text);
    if (said) this.#text.push(said);
    const usage = value.usage ?? response?.usage;
    this.#outputTokens = usage?.completion_tokens ?? usage?.output_tokens ?? this.#outputTokens;
    if (choice?.finish_reason || ENDS.has(type ?? '') || (whole && (content ?? output) !== undefined)) this.#complete = true; // prettier-ignore
  }

  #end(verdict: Verdict, error = ''): void {
    clearTimeout(this.#timer);
    this.watch.leave?.removeEventListener('abort', this.#leave);
    this.resolve({
      verdict,
      status: this.#status,
      headers: this.#headers,
      events: this.#events,
      text: this.#text.join(''),
      ids: this.#ids,
      outputTokens: this.#outputTokens,
      error: this.#error ?? error,
    });
  }
}

const ENDS: ReadonlySet<string> = new Set(['message_stop', 'response.completed', 'response.incomplete']);

/** The parts read of events and answers. */
interface Fields {
  readonly type?: string;
  readonly error?: unknown;
  readonly id?: string;
  readonly choices?: readonly Choice[];
  readonly delta?: string | { readonly text?: string };
  readonly usage?: Usage | null;
  readonly message?: { readonly id?: string };
  readonly response?: { readonly id?: string; readonly error?: unknown; readonly usage?: Usage | null };
  readonly content?: unknown;
  readonly output?: unknown;
}
interface Choice {
  readonly delta?: { readonly content?: string };
  readonly message?: { readonly content?: string };
  readonly finish_reason?: string | null;
}
interface Usage {
  readonly completion_tokens?: number;
  readonly output_tokens?: number;
}

function parse(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
