import { describe, expect, it } from 'vitest';
import type { EngineList, PastCall, PastCallList } from '../../../sidecar/admin/answers.js';
import {
  begun,
  completion,
  fakeEngine,
  held,
  lone,
  named,
  ONE_AT_A_TIME,
  stream,
  until,
  world,
  type Answer,
} from './world.js';
import { says } from './misbehaving.js';
import type { Told } from './queued.js';

describe('a call that has ended', () => {
  it('tells what it waited for', async () => {
    const { engine, open, openChat, chat, read } = await held(
      { ...ONE_AT_A_TIME, timeouts: { commentMs: 100 } },
      (response, seen, request) =>
        (seen.body.includes('"stream":true') ? stream() : completion())(response, seen, request),
    );
    const first = chat({}, named('first'));
    await until(() => engine.seen.length === 1);
    const second = await openChat({ stream: true }, named('second'));
    // Its comments look at the queue.
    let heard = '';
    for await (const chunk of second.body) {
      heard += String(chunk);
      if (heard.includes('cause=window')) open();
    }
    await first;
    const { calls } = await read<PastCallList>('/programs/default:second/calls');
    expect(calls).toMatchObject([{ waited_for: { window: expect.any(Number) as number } }]);
    expect(calls[0]?.text).toMatch(/ It waited \S+ m?s in the queue for the window\.\n/);
  });

  it('tells what each engine that failed it said', async () => {
    const failing: Answer = (response) =>
      void response
        .writeHead(500, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: `out of luck ${'x'.repeat(500)}` } }));
    const { chat, read } = await world([await fakeEngine(failing), await fakeEngine(failing)]);
    expect((await chat({}, named('p'))).status).toBe(502);
    const { calls } = await read<PastCallList>('/programs/p/calls');
    const [{ text, failures } = { text: '', failures: [] }] = calls;
    expect(text).toMatch(/^It failed with 502 engine_failed after .* It was sent \d times\. .*: out of luck x+…/);
    expect(failures.length).toBe(2);
    expect(text.split('\n')[0]?.length).toBeLessThan(800);
    const alone = await lone(failing);
    await alone.chat({}, named('p'));
    const { text: once } = await alone.read<Told>('/programs/p/explain');
    expect(once).toMatch(new RegExp(`It was sent (\\d) times\\. \\1 times ${alone.engine.id}: `));
    expect(once.split('out of luck')).toHaveLength(2);
    const { engines } = await alone.read<EngineList>('/engines');
    expect(engines[0]?.text).toMatch(
      / (\d) of \1 attempts failed in the last 5 min; (?:failures began .* ago; )?the last one .* ago: status 500: out of luck x+…?\.$/,
    );
  });

  it('says that it tells the last failures alone of many', async () => {
    const limits = { attemptsMax: 5 };
    const { chat, read } = await lone(says(500, { message: 'out of luck' }), { limits });
    await chat({}, named('p'));
    const { text } = await read<Told>('/programs/p/explain');
    expect(text).toMatch(/ It was sent 5 times\. The last 3 failures: 3 times \S+: .*: out of luck\.\n/);
  });

  it('tells the wait after an engine failed it, which is no service', async () => {
    const NO_ENGINE_MS = 400;
    const { engine, open, chat, read } = await held({
      timeouts: { noEngineMs: NO_ENGINE_MS },
      health: { intervalMs: 20, failuresMax: 1 },
    });
    const answer = chat({}, named('p'));
    await until(() => engine.seen.length === 1);
    await engine.close();
    open();
    const { headers } = await answer;
    const { calls } = await read<PastCallList>('/programs/p/calls');
    const [
      { text, queue_seconds: queued, service_seconds: served, duration_seconds: lasted, arrived_at: from, failures },
    ] = calls as unknown as [PastCall];
    expect(queued).toBeGreaterThanOrEqual(NO_ENGINE_MS / 1000 - 0.01);
    expect(served).toBeNull();
    // It failed before that wait, and not at the end of the call.
    const [{ began_at: began, failed_at: at }] = failures as unknown as [PastCall['failures'][0]];
    expect(began).toBeLessThanOrEqual(at);
    expect(at + queued).toBeLessThanOrEqual(from + lasted + 0.01);
    expect(Number(headers['x-maitred-queue-ms'])).toBeGreaterThanOrEqual(NO_ENGINE_MS - 10);
    expect(text).toMatch(/ It waited .* in the queue.*\n?.*Its only attempt was sent from level 0, without waiting\./s);
  });

  it('tells an engine’s code and words of a refusal, and that an answer broke off', async () => {
    const body = { error: { message: 'no such tool', code: 'bad_tool' } };
    const refusing = await lone(
      (response) => void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
    await refusing.chat({}, { ...named('p'), 'x-request-id': 'r-1' });
    const { text } = await refusing.read<Told>('/programs/p/explain');
    expect(text).toMatch(
      new RegExp(`It failed with 400 after .*\\. ${refusing.engine.id}: 400 bad_tool: no such tool\\.\n`),
    );
    const byRequest = async () => (await refusing.read<Told>('/programs/r-1/explain')).text;
    expect(await byRequest()).toMatch(/^Call \S+ \(request r-1\) of program "p" has ended\. It failed with 400 /);
    // Of calls with one request id, it is the last.
    await refusing.chat({ model: 'gpt-4' }, { ...named('q'), 'x-request-id': 'r-1' });
    expect(await byRequest()).toMatch(/^Call r-1 of program "q" has ended\. Refused with 404 /);
  });

  it('tells that an answer broke off, which is no success', async () => {
    const { chat, read } = await lone(begun((response) => response.destroy()));
    await chat({ stream: true }, named('p')).catch(() => undefined);
    await expect
      .poll(async () => (await read<Told>('/programs/p/explain')).text)
      .toMatch(/: It failed with engine_failed amid its answer after .*: The engine .*/);
  });
});
