import { createServer, type Socket } from 'node:net';
import { AGENT_HEADER, CHUNKS, CHUNK_TEXT, ID_CHARS, answerOf } from './agent.js';
import { MODEL } from './bodies.js';
import { listen } from './serve.js';

/**
 * The process of a mock engine that answers at once, from canned bytes. It shares a core with the load generator, so
 * its handwritten HTTP does only what the proxies here need.
 *
 *     GET  /health /v1/models /metrics     as vLLM's, without a KV capacity: no gate, and a window by configuration
 *     POST with `"stream":false`           a JSON answer
 *     POST with `"stream":true`            an event stream: 32 chunks, each written by itself, the usage if asked for, [DONE]
 *
 * Header `x-bench-agent`: each answer differs, and calls a tool with an id of its own.
 * Header `x-delay-ms`: a JSON answer comes so much later.
 * Header `x-gap-ms`: chunks come at this interval, without end. Without it: one chunk a turn of the event loop.
 */

const head = (type: string, rest: string) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${rest}\r\n`;
const whole = (type: string, body: string) =>
  Buffer.from(`${head(type, `content-length: ${Buffer.byteLength(body)}\r\n`)}${body}`);
const json = (value: unknown) => whole('application/json', JSON.stringify(value));
const chunked = (text: string) => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
const event = (fields: object) => chunked(`data: ${JSON.stringify({ ...COMMON, ...fields })}\n\n`);

const COMMON = { id: 'chatcmpl-0', object: 'chat.completion.chunk', created: 0, model: MODEL };
const USAGE = { prompt_tokens: 500, completion_tokens: CHUNKS, total_tokens: 500 + CHUNKS };
const ANSWER = 'I have read the file, and the test fails since the value is never returned. '.repeat(4);

const GETS: Readonly<Record<string, Buffer>> = {
  '/health': whole('text/plain', ''),
  '/v1/models': json({ object: 'list', data: [{ id: MODEL, object: 'model', created: 0, owned_by: 'vllm' }] }),
  '/metrics': whole('text/plain', 'vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n'),
};
const NOT_FOUND = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');

const CHAT = json({
  ...COMMON,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
  usage: USAGE,
});
const OPENING = Buffer.concat([
  Buffer.from(head('text/event-stream; charset=utf-8', 'transfer-encoding: chunked\r\n')),
  event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }),
]);
const CHUNK = event({ choices: [{ index: 0, delta: { content: CHUNK_TEXT }, finish_reason: null }] });

/** A copy of the bytes with an id in each of their blanks. */
function template(bytes: Buffer): (id: string) => Buffer {
  const blanks: number[] = [];
  for (let at = bytes.indexOf(BLANK); at >= 0; at = bytes.indexOf(BLANK, at + 1)) blanks.push(at);
  return (id) => {
    const filled = Buffer.from(bytes);
    for (const at of blanks) filled.write(id, at, 'latin1');
    return filled;
  };
}

const BLANK = '#'.repeat(ID_CHARS);
const { content, tool_calls: calls } = answerOf(BLANK);
const message = { role: 'assistant', content, tool_calls: calls };
const CALLING = template(
  json({
    ...COMMON,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: USAGE,
  }),
);
const CALL_CHUNK = template(
  Buffer.concat([
    event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    event({
      choices: [{ index: 0, delta: { tool_calls: calls.map((call) => ({ index: 0, ...call })) }, finish_reason: null }],
    }),
  ]),
);
let ids = 0;
const newId = (): string => (++ids).toString(16).padStart(ID_CHARS, '0');

const LAST = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const USAGE_CHUNK = event({ choices: [], usage: USAGE });
const DONE = Buffer.concat([chunked('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')]);

/** Requests of one connection, in sequence: no client here pipelines. */
class Connection {
  #header = '';
  #body = '';
  /** Body bytes still to come; undefined while the header is read. */
  #left: number | undefined;

  constructor(private readonly socket: Socket) {}

  take(chunk: Buffer): void {
    if (this.#left !== undefined) return this.#takeBody(chunk);
    const text = this.#header + chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) {
      this.#header = text;
      return;
    }
    const bodyAt = end + 4 - this.#header.length;
    this.#header = text.slice(0, end + 2);
    this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#header)?.[1] ?? 0);
    this.#takeBody(chunk.subarray(bodyAt));
  }

  #takeBody(chunk: Buffer): void {
    // The relevant fields come before the messages.
    if (this.#body.length < 256) this.#body += chunk.toString('latin1', 0, 256);
    this.#left = (this.#left ?? 0) - chunk.length;
    if (this.#left > 0) return;
    const [method, path = ''] = this.#header.split(' ', 2);
    const gap = /\r\nx-gap-ms: *(\d+)/i.exec(this.#header)?.[1];
    const delay = /\r\nx-delay-ms: *(\d+)/i.exec(this.#header)?.[1];
    const isAgent = this.#header.includes(AGENT_HEADER);
    if (method === 'GET') this.socket.write(GETS[path] ?? NOT_FOUND);
    else if (!this.#body.includes('"stream":true')) this.#answer(isAgent ? CALLING(newId()) : CHAT, Number(delay ?? 0));
    else if (gap !== undefined) this.#drip(Number(gap));
    else this.#stream(isAgent, this.#body.includes('"include_usage":true'));
    this.#header = this.#body = '';
    this.#left = undefined;
  }

  #answer(bytes: Buffer, delayMs: number): void {
    if (delayMs === 0) this.socket.write(bytes);
    else setTimeout(() => this.socket.write(bytes), delayMs);
  }

  #stream(isAgent: boolean, usage: boolean): void {
    let sent = 1;
    this.socket.write(OPENING);
    const next = () => {
      if (this.socket.destroyed) return;
      sent += 1;
      if (sent < CHUNKS) {
        this.socket.write(CHUNK);
        setImmediate(next);
      } else {
        const calls = isAgent ? [CALL_CHUNK(newId())] : [];
        this.socket.write(Buffer.concat([...calls, LAST, ...(usage ? [USAGE_CHUNK] : []), DONE]));
      }
    };
    setImmediate(next);
  }

  #drip(gapMs: number): void {
    this.socket.write(OPENING);
    const timer = setInterval(() => this.socket.write(CHUNK), gapMs);
    this.socket.once('close', () => clearInterval(timer));
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  const connection = new Connection(socket);
  socket.on('data', (chunk) => connection.take(chunk));
  socket.on('error', () => socket.destroy());
});
listen(server);
