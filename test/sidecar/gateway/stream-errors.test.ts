import { describe, expect, it } from 'vitest';
import type { TotalsAnswer } from '../../../sidecar/admin/answers.js';
import type { Told } from './queued.js';
import {
  DONE_EVENT,
  JSON_TYPE,
  MODEL,
  STOP_EVENT,
  TEXT_EVENT,
  completionBody,
  fakeEngine,
  lone,
  named,
  replies,
  stream,
  world,
  type Answer,
} from './world.js';

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const WORDS = { message: 'boom at 10.0.0.7:9000' };
const CREATED = event({ type: 'response.created', sequence_number: 4, response: { id: 'r', model: MODEL } });
const FAILED = { type: 'response.failed', sequence_number: 5, response: { id: 'r', error: WORDS } };
const MESSAGE = event({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } });
const OPENAI = { error: { message: 'The engine failed: boom', type: 'server_error', code: 'engine_failed' } };
const ANTHROPIC = { type: 'error', error: { type: 'api_error', message: OPENAI.error.message } };
const ENDED = {
  type: 'response.failed',
  sequence_number: 5,
  response: { id: 'r', status: 'failed', error: { code: 'engine_failed', message: OPENAI.error.message } },
};

/** An event stream in pieces of so many bytes. */
const inPieces =
  (text: string, bytes: number): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let at = 0; at < text.length; at += bytes)
      await new Promise<unknown>((sent) => response.write(text.slice(at, at + bytes), sent));
    response.end();
  };

describe('an engine’s error inside a stream', () => {
  it.each([
    ['/v1/chat/completions', TEXT_EVENT, { error: WORDS }, OPENAI],
    ['/v1/chat/completions', TEXT_EVENT, { error: WORDS.message }, OPENAI],
    ['/v1/completions', event({ choices: [{ index: 0, text: 'hi' }] }), { error: WORDS }, OPENAI],
    ['/v1/messages', MESSAGE, { error: WORDS }, ANTHROPIC],
    ['/v1/messages', MESSAGE, { type: 'error', error: { type: 'overloaded_error', ...WORDS } }, ANTHROPIC],
    ['/v1/responses', CREATED, FAILED, ENDED],
    ['/v1/responses', CREATED, { type: 'error', sequence_number: 5, ...WORDS }, ENDED],
    ['/v1/responses', CREATED, { error: WORDS }, ENDED],
  ] as const)('has the form of its API, without addresses, and ends it: %s %#', async (path, first, error, told) => {
    const fields = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 5, prompt: 'hi', input: 'hi' };
    const body = JSON.stringify({ model: MODEL, stream: true, ...fields });
    const { engine, ask } = await lone();
    for (const bytes of [7, 1000]) {
      engine.answer = inPieces(first + event(error) + DONE_EVENT, bytes);
      const { text } = await ask(path, { headers: JSON_TYPE, body });
      expect(text.startsWith(first)).toBe(true);
      const [data, ...more] = text.slice(first.length).match(/^data: .*$/gm) ?? [];
      expect(JSON.parse(data!.slice(6))).toMatchObject(told);
      expect(more).toEqual([]);
    }
  });

  it('is told with its words in the log and by why, and among the failures of its engine', async () => {
    const { engine, calls, chat, read, engines } = await lone(
      stream([TEXT_EVENT, event({ error: WORDS }), DONE_EVENT]),
    );
    await chat({ stream: true }, named('p'));
    const { message, code } = OPENAI.error;
    await expect.poll(calls).toMatchObject([{ level: 40, outcome: 'engine_error', code, message }]);
    const { text } = await read<Told>('/programs/p/explain');
    expect(text).toContain(`It failed with engine_failed amid its answer after `);
    expect(text).toContain(` ${engine.id}: ${message}.\n`);
    expect(await engines()).toMatchObject([{ failures: { calls: 1, last: 'boom' } }]);
  });

  it('is kept from an answer that is whole, which ends as it came', async () => {
    const { calls, chat } = await lone(stream([TEXT_EVENT, STOP_EVENT, event({ error: WORDS }), DONE_EVENT]));
    expect((await chat({ stream: true })).text).toBe([TEXT_EVENT, STOP_EVENT, DONE_EVENT].join(''));
    await expect.poll(calls).toMatchObject([{ outcome: 'completed' }]);
  });
});

describe('a stream that a comment has opened', () => {
  const opened = async (then: Answer) => {
    const busy = replies(503, { error: { message: 'full' } }, { 'retry-after': '0.3' });
    const engine = await fakeEngine((...asked) => (engine.seen.length === 1 ? busy : then)(...asked));
    const all = await world([engine], { timeouts: { commentMs: 100 } });
    const { text } = await all.chat({ stream: true }, named('p'));
    return { ...all, text, failed: async () => (await all.read<TotalsAnswer>('/totals')).failed };
  };

  it.each([
    [422, 'client', 'client_error', 30],
    [404, 'service', 'engine_error', 40],
    [401, 'service', 'engine_error', 40],
  ])('is charged to one side when its engine refuses the call: %i', async (status, fault, outcome, level) => {
    const { calls, failed, text } = await opened(replies(status, { error: WORDS }));
    expect(text).toContain('boom');
    const code = `engine_${status}`;
    await expect.poll(calls).toMatchObject([{ code, outcome, level, status: 200 }]);
    expect(await failed()).toMatchObject([{ code, fault }]);
  });

  it('ends with an error if its engine answers without one', async () => {
    const { calls, failed, text } = await opened(replies(200, completionBody()));
    expect(text).toContain('"code":"engine_answer_invalid"');
    const message = 'The engine answered without a stream.';
    await expect.poll(calls).toMatchObject([{ code: 'engine_answer_invalid', outcome: 'engine_error', message }]);
    expect(await failed()).toMatchObject([{ code: 'engine_answer_invalid', fault: 'service' }]);
  });
});
