/**
 * Tells maitred, a gateway in front of LLM engines, what a program of the AI SDK does. Copy this file; it imports
 * nothing. A program is one run of an agent:
 *
 *     const program = new Program({ gateway: 'http://127.0.0.1:8080' });
 *     const model = wrapLanguageModel({ model: maitred('llama-3.1-8b'), middleware: program.middleware() });
 *     await generateText({ model, tools: { get_weather }, prompt });
 *     await program.end();
 *
 * Its name goes with each call, in headers; its end is told beside the calls. Telling never slows the agent and never
 * fails: the first loss is a warning on the console.
 */

export interface ProgramOptions {
  readonly gateway?: string;
  /** 1 to 256 printable ASCII characters; use a new one for each run. */
  readonly id?: string;
  /** Your own name of such runs, which the gateway's page shows. */
  readonly workflow?: string;
  /** A key of the gateway, if it has any. */
  readonly apiKey?: string;
}

let hasWarned = false;

export class Program {
  readonly id: string;
  readonly #options: ProgramOptions;

  constructor(options: ProgramOptions = {}) {
    this.id = options.id ?? `run-${crypto.randomUUID()}`;
    if (!/^[\x20-\x7e]{1,256}$/.test(this.id)) throw new Error('id must be 1 to 256 printable ASCII characters');
    this.#options = options;
  }

  /** Names each call of a model. `thread` names a conversation beside the main one, such as a sub-agent's. */
  middleware(thread?: string) {
    const names = Object.entries({ program: this.id, workflow: this.#options.workflow, thread });
    const pairs = names.flatMap(([key, name]) => (name ? [[`x-maitred-${key}`, printable(name)] as const] : []));
    const headers = Object.fromEntries(pairs);
    return {
      specificationVersion: 'v3' as const,
      transformParams: <P extends { headers?: Record<string, string | undefined> }>({ params }: { params: P }) =>
        Promise.resolve({ ...params, headers: { ...params.headers, ...headers } }),
    };
  }

  /** The gateway forgets the program. Resolves once that is told or lost; never rejects. */
  async end(): Promise<void> {
    const { gateway = 'http://127.0.0.1:8080', apiKey } = this.#options;
    const url = `${gateway.replace(/(\/v1)?\/*$/, '')}/programs/${encodeURIComponent(this.id)}/end`;
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
        signal: AbortSignal.timeout(2000),
      });
      // A program without a call is unknown, and has nothing to end.
      if (!answer.ok && !(await answer.text()).includes('unknown_program')) warn(`${url} answers ${answer.status}`);
    } catch (error) {
      warn(error);
    }
  }
}

/** Names may have any characters and length, headers may not. The end of a name tells most. */
const printable = (name: string) =>
  name.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).slice(-256);

function warn(reason: unknown): void {
  if (!hasWarned) console.warn('maitred was not told of an end:', reason);
  hasWarned = true;
}
