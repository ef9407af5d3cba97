import { completion, completionBody, replies, type Answer, type World } from './world.js';

/** Engines that fail some calls, and the gateway's judgement of them. */

/** Ejects at the second failure, and probes often. */
export const QUICK = { health: { failuresMax: 2, intervalMs: 50, backoffMs: 50, backoffMsMax: 50 } };

export const says = (code: number, error: object, headers: Record<string, string> = {}): Answer =>
  replies(code, { error }, headers);

const reset: Answer = (response) => void response.destroy();
const half: Answer = (response) => {
  response.setHeader('content-type', 'application/json');
  response.write(JSON.stringify(completionBody()).slice(0, 30), () => response.destroy());
};
const short: Answer = (response) => {
  const body = JSON.stringify(completionBody());
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length + 10 });
  response.write(body, () => response.destroy());
};
const long: Answer = (response) => {
  const body = JSON.stringify(completionBody());
  response.socket?.end(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length - 5}\r\n\r\n${body}`,
  );
};
const earlyEof: Answer = (response) => {
  response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"choices":[`);
};
const html = replies(200, '<html>Bad luck</html>', { 'content-type': 'text/html' });
const notHttp: Answer = (response) => void response.socket?.end('\x00\x01garbage\r\n\r\n');
const badGzip = replies(200, 'not gzip', { 'content-encoding': 'gzip' });
const oddEncoding = replies(200, 'whatever', { 'content-encoding': 'pack200' });
const flood = replies(200, '', { pad: 'x'.repeat(40_000) });

/** Answers that fail a call, and what its client hears where no engine gives a better one. */
export const BROKEN: readonly (readonly [string, Answer, string])[] = [
  ['resets', reset, 'engine_failed'],
  ['answers 500', says(500, { message: 'no' }), 'engine_failed'],
  ['answers 502', says(502, { message: 'no' }), 'engine_failed'],
  ['answers 504', says(504, { message: 'no' }), 'engine_failed'],
  ['sends half an answer', half, 'engine_failed'],
  ['sends less than its content length', short, 'engine_failed'],
  ['sends more than its content length', long, 'engine_answer_invalid'],
  ['ends early without a length', earlyEof, 'engine_answer_invalid'],
  ['sends HTML', html, 'engine_answer_invalid'],
  ['sends headers without end', flood, 'engine_failed'],
  ['does not speak HTTP', notHttp, 'engine_failed'],
  ['sends what is not gzip', badGzip, 'engine_answer_invalid'],
  ['sends an unknown encoding', oddEncoding, 'engine_answer_invalid'],
];

/** Misbehaves for calls that contain a word, and answers all others well. */
export const poisoned =
  (bad: Answer, good: Answer = completion()): Answer =>
  (response, seen, request) =>
    seen.body.includes('poison') ? bad(response, seen, request) : good(response, seen, request);

export const say = (content: string, headers: Record<string, string> = {}) =>
  [{ messages: [{ role: 'user', content }] }, headers] as const;

export const states = async (all: World): Promise<string[]> => (await all.engines()).map(({ state }) => state);

export const ejections = ({ logs }: World): number => logs.filter((line) => line['msg'] === 'engine is down').length;
