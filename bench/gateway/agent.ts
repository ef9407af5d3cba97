import { makeRandom } from '../numbers.js';
import { MODEL, prose } from './bodies.js';

/** A request with this header gets an answer of its own, with a tool call. */
export const AGENT_HEADER = 'x-bench-agent';
/** Chunks of a streamed answer, and the text of most. */
export const CHUNKS = 32;
export const CHUNK_TEXT = 'I have read';
export const ID_CHARS = 12;
const ID = new RegExp(`"call_([\\da-f]{${ID_CHARS}})"`);

const THOUGHT = 'The test fails since the value is never returned. '.repeat(4);

export const answerOf = (id: string) => ({
  content: `${THOUGHT}I look at module ${id}.`,
  tool_calls: [
    {
      id: `call_${id}`,
      type: 'function',
      function: { name: 'bash', arguments: `{"command":"sed -n 1,80p src/${id}.py"}` },
    },
  ],
});

/** Results of tools, long and short ones as coding agents get. */
const random = makeRandom(1);
const RESULTS = Array.from({ length: 64 }, () => prose(random, random() < 0.2 ? 2500 : 500));
const RESULT_SHARE_MAX = 1 / 8;
let tasks = 0;

/**
 * A client whose requests grow by each answer and a tool's result. Its conversation begins anew at one and a half times
 * the mean size, at half of it.
 */
export class Agent {
  #turns = 0;
  #body: Buffer;
  #length = 0;

  /** @param bytes mean size of its requests @param at share of the first conversation that has passed */
  constructor(
    private readonly bytes: number,
    private readonly stream: boolean,
    at: number,
  ) {
    this.#body = Buffer.allocUnsafe(2 * bytes + 8192);
    this.#begin((0.5 + at) * bytes);
  }

  request(): Buffer {
    const body = Buffer.allocUnsafe(this.#length + 2);
    this.#body.copy(body, 0, 0, this.#length);
    body.write(']}', this.#length);
    return body;
  }

  /** @param answer what the engine has sent, with its headers or events */
  answered(answer: string): void {
    const id = ID.exec(answer)?.[1];
    if (id === undefined) throw new Error('the answer calls no tool');
    if (this.#length > 1.5 * this.bytes) this.#begin(this.bytes / 2);
    else this.#turn(id);
  }

  #begin(bytes: number): void {
    const head = { model: MODEL, stream: this.stream, max_tokens: 256, temperature: 0 };
    const system = { role: 'system', content: prose(makeRandom(2), Math.min(600, this.bytes / 6)) };
    const user = {
      role: 'user',
      content: `Task ${(tasks += 1)} of ${process.pid}. ${RESULTS[0]?.slice(0, this.bytes / 6)}`,
    };
    this.#length = 0;
    this.#add(`${JSON.stringify(head).slice(0, -1)},"messages":[${JSON.stringify(system)},${JSON.stringify(user)}`);
    // Earlier answers are no other agent’s.
    while (this.#length < bytes) this.#turn(this.#ownId());
  }

  #turn(id: string): void {
    const { content, tool_calls } = answerOf(id);
    const text = this.stream ? CHUNK_TEXT.repeat(CHUNKS - 2) + content : content;
    const result = RESULTS[(this.#turns += 1) % RESULTS.length]?.slice(0, this.bytes * RESULT_SHARE_MAX);
    this.#add(`,${JSON.stringify({ role: 'assistant', content: text, tool_calls })}`);
    this.#add(`,${JSON.stringify({ role: 'tool', tool_call_id: `call_${id}`, content: result })}`);
  }

  /** An id that no engine gives. */
  #ownId(): string {
    return `f${tasks.toString(16).padStart(6, '0')}${this.#turns.toString(16).padStart(5, '0')}`;
  }

  #add(text: string): void {
    this.#length += this.#body.write(text, this.#length);
  }
}

/** A chat request of about `bytes` bytes like a coding agent's. */
export const chatBody = (bytes: number, stream: boolean): Buffer => new Agent(bytes, stream, 0.5).request();
