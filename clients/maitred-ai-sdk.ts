/**
 * Tells maitred, a gateway in front of LLM engines, what a program of the AI SDK does. Copy this file; it imports
 * nothing. A program is one run of an agent:
 *
 *     const program = new Program({ gateway: 'http://127.0.0.1:8080' });
 *     const model = wrapLanguageModel({ model: maitred('llama-3.1-8b'), middleware: program.middleware('plan') });
 *     await generateText({ model, tools: program.tools({ get_weather }), prompt });
 *     await program.end();
 *
 * Its name goes with each call, in headers; its tools and its end are told beside the calls. Telling never slows the
 * agent and never fails: at most 256 messages wait, and the first loss is a warning on the console.
 */

export interface ProgramOptions {
  readonly gateway?: string;
  /** 1 to 256 printable ASCII characters; use a new one for each run. */
  readonly id?: string;
  /** A workflow registered with the gateway, to which the nodes belong. */
  readonly workflow?: string;
  /** A key of the gateway, if it has any. */
  readonly apiKey?: string;
  /** Times that tools take, in milliseconds by name. */
  readonly expectedMs?: Readonly<Record<string, number>>;
}

let hasWarned = false;

export class Program {
  readonly id: string;
  readonly #options: ProgramOptions;
  /** The messages so far, sent one behind the other. */
  #told = Promise.resolve();
  #waiting = 0;
  #losses = 0;

  constructor(options: ProgramOptions = {}) {
    this.id = options.id ?? `run-${crypto.randomUUID()}`;
    if (!/^[\x20-\x7e]{1,256}$/.test(this.id)) throw new Error('id must be 1 to 256 printable ASCII characters');
    this.#options = options;
  }

  /** Names each call of a model. `thread` names a conversation beside the main one, such as a sub-agent's. */
  middleware(node?: string, thread?: string) {
    const names = Object.entries({ program: this.id, workflow: this.#options.workflow, node, thread });
    const pairs = names.flatMap(([key, name]) => (name ? [[`x-maitred-${key}`, printable(name)] as const] : []));
    const headers = Object.fromEntries(pairs);
    return {
      specificationVersion: 'v3' as const,
      transformParams: <P extends { headers?: Record<string, string | undefined> }>({ params }: { params: P }) =>
        Promise.resolve({ ...params, headers: { ...params.headers, ...headers } }),
    };
  }

  /** The same tools, whose runs are told. `thread` is that of the model that asks for them. */
  tools<T extends Readonly<Record<string, object>>>(tools: T, thread?: string): T {
    const told = Object.entries(tools).map(([name, tool]) => {
      const { execute } = tool as { execute?: (...given: unknown[]) => unknown };
      const tell = (type: string, expectedMs?: number) =>
        this.#tell('events', { type, tool: name, thread: thread && printable(thread), expectedMs });
      const finished = () => tell('tool_finished');
      const watched = (...given: unknown[]) => {
        tell('tool_started', this.#options.expectedMs?.[name]);
        return watch(() => execute?.apply(tool, given), finished);
      };
      return [name, execute ? { ...tool, execute: watched } : tool];
    });
    return Object.fromEntries(told) as T;
  }

  /** The gateway forgets the program. Resolves once all is told or lost; never rejects. */
  end(): Promise<void> {
    this.#tell('end', {});
    return this.#told;
  }

  #tell(path: string, body: Readonly<Record<string, unknown>>): void {
    if (this.#waiting >= 256) return warn('too many messages wait');
    this.#waiting += 1;
    const losses = this.#losses;
    this.#told = this.#told.then(async () => {
      this.#waiting -= 1;
      // Those that waited behind a lost one are lost with it, so that an absent gateway takes only one timeout.
      if (losses === this.#losses && !(await this.#post(path, body))) this.#losses += 1;
    });
  }

  /** Whether the gateway answered. */
  async #post(path: string, body: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { gateway = 'http://127.0.0.1:8080', apiKey } = this.#options;
    const url = `${gateway.replace(/(\/v1)?\/*$/, '')}/programs/${encodeURIComponent(this.id)}/${path}`;
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(2000),
      });
      const text = await answer.text();
      // A program without a call is unknown, and has nothing to end.
      if (!answer.ok && !text.includes('unknown_program')) warn(`${url} answers ${answer.status}`);
      return true;
    } catch (error) {
      warn(error);
      return false;
    }
  }
}

/** Runs a tool, which may return a value, a promise or partial results, and reports its end. */
function watch(run: () => unknown, finished: () => void): unknown {
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    finished();
    throw error;
  }
  const hasParts = typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
  return hasParts ? watchParts(result as AsyncIterable<unknown>, finished) : Promise.resolve(result).finally(finished);
}

async function* watchParts(parts: AsyncIterable<unknown>, finished: () => void): AsyncIterable<unknown> {
  try {
    yield* parts;
  } finally {
    finished();
  }
}

/** Names may have any characters and length, headers may not. The end of a name tells most. */
const printable = (name: string) =>
  name.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).slice(-256);

function warn(reason: unknown): void {
  if (!hasWarned) console.warn('maitred was not told of a tool or an end:', reason);
  hasWarned = true;
}
