import { describe, expect, it } from 'vitest';
import { wrapped } from '../../cli/text.js';
import { itRefuses, run } from '../support/command-line.js';
import { ask, chat, fakeEngine, held, named, post, until, world } from '../sidecar/gateway/world.js';

const why = (url: string, id: string, ...more: string[]) => run(['why', id, '--url', url, ...more]);

describe('maitred why', () => {
  it('tells in 80 columns why a program’s last call ran where it ran, or as JSON', async () => {
    const engine = await fakeEngine();
    const { url } = await world([engine]);
    expect((await chat(url, {}, { 'x-maitred-program': 'my task: 1' })).status).toBe(200);
    const { code, out, errors } = await why(`${url}/v1/`, 'my task: 1');
    expect([code, errors]).toEqual([0, []]);
    expect(out).toContain(engine.id);
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    const json = await why(url, 'my task: 1', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ program: { id: 'my task: 1', active: [] } });
  });

  it('names what is down, and what helps, where no call waits because none is taken', async () => {
    const { url } = await world([]);
    expect((await run(['why', '--url', url])).out).toBe(
      'There is no engine.\nWhat helps: add one: maitred engines add URL.\nNo call waits.\n',
    );
    const engine = await fakeEngine();
    const drained = await world([engine]);
    await fetch(`${drained.url}/engines/${encodeURIComponent(engine.id)}/drain?force`, { method: 'POST' });
    const { out } = await run(['why', '--url', drained.url]);
    expect(out.replaceAll('\n', ' ').replaceAll(/for [\d.]+ m?s/g, 'for X')).toBe(
      `0 of 1 engine up for X: new calls fail at once. ${engine.id} has been drained for X: it takes no calls until it is returned to service. What helps: maitred engines undrain ${engine.id}. No call waits. `,
    );
  });

  it('tells how a program ended', async () => {
    const engine = await fakeEngine();
    const { url } = await world([engine]);
    await chat(url, {}, { ...named('final'), 'x-maitred-final': 'true' });
    expect((await why(url, 'final')).out).toMatch(
      /^Program "final" ended .* ago: its client said that it was over\.\n/,
    );
    await chat(url, {}, { 'x-maitred-program': 'done' });
    expect((await run(['end', 'done', '--url', url])).code).toBe(0);
    const { code, out } = await why(url, 'done');
    const [first, second] = out.split('\n');
    expect([code, first]).toEqual([0, expect.stringMatching(/^Program "done" ended .* ago: an operator ended it\.$/)]);
    expect(second).toMatch(/^It had 1 call in .*, .*wait.*\.$/);
    expect(out.replaceAll('\n', ' ')).toMatch(new RegExp(` Its last call, \\S+ on ${engine.id}: Answered after `));
    expect((await why(url, 'done', '--tenant', 'other')).code).toBe(1);
    expect(JSON.parse((await why(url, 'done', '--json')).out)).toMatchObject({
      program: null,
      ended: { id: 'done', calls: 1 },
    });
    const { headers } = await chat(url);
    const id = decodeURIComponent(String(headers['x-maitred-program']));
    await run(['end', id, '--url', url]);
    expect((await why(url, id.slice(1, 9))).out).toContain(`${id}" ended`);
  });

  it('tells of a program that is held, of one that was refused, and of one that made way', async () => {
    const limits = { queuedMax: 1, programsMax: 3 };
    const gateway = await held({ admission: { window: 1 }, limits });
    const { engine, open, url, waiting } = gateway;
    const answers = [gateway.chat({}, named('runs'))];
    await until(() => engine.seen.length === 1);
    answers.push(gateway.chat({}, named('held')));
    await until(async () => (await waiting()) === 1);
    await post(`${url}/engines`, { id: 'gone', url: 'http://127.0.0.1:1' });
    await until(async () => (await ask(`${url}/engines/gone`)).json()['state'] === 'down');
    expect((await run(['why', '--url', url])).out).toMatch(
      /^gone has been down for [^]*\nWhat helps: start gone.*\n1 of 2 engines up\.\n1 call runs, 1 waits [^]*\.\n\nCall /,
    );
    expect((await why(url, 'held')).out).toMatch(/^Call \S+ of program "held" has waited \S+ m?s for the window of/);
    expect((await chat(url, {}, named('strange'))).status).toBe(429);
    // Lines break by the length of the id.
    expect((await why(url, 'strange')).out.replaceAll(/\s+/g, ' ')).toMatch(
      /^Program "strange" is idle: no call of it waits or runs\. Its last call, \S+: Refused with 429 queue_full before it entered the queue: Too many calls are waiting\./,
    );
    open();
    await Promise.all(answers);
    expect((await chat(url, {}, named('next'))).status).toBe(200);
    expect((await why(url, 'strange')).out.replaceAll(/\s+/g, ' ')).toMatch(
      /^Program "strange" ended .* ago: it was idle, and the table of programs was full\. It had 1 call /,
    );
    expect((await why(url, 'held')).out).toMatch(/^Program "held" is idle: /);
  });

  it('takes the token from a variable, and says what is wrong with it', async () => {
    const { url } = await world([await fakeEngine()], { admin: { token: 'a-long-admin-token' } });
    await chat(url, {}, { 'x-maitred-program': 'p' });
    const args = ['why', 'p', '--url', url, '--token', 'TEST_TOKEN'];
    expect((await run(args, { TEST_TOKEN: 'a-long-admin-token' })).code).toBe(0);
    const errors = [expect.stringContaining('--token') as string];
    expect(await run(args, { TEST_TOKEN: 'wrong' })).toMatchObject({ code: 1, out: '', errors });
    expect((await why(url, 'p')).code).toBe(1);
    expect((await run(args)).code).toBe(2);
  });

  it.each([
    ['an unknown id', () => world([]).then(({ url }) => url), 'No program "p" is known'],
    ['a listener without admin paths', () => world([], { admin: { port: 0 } }).then(({ url }) => url), 'admin.port'],
    ['a port where nobody listens', () => Promise.resolve('http://127.0.0.1:1'), 'or at another --url?'],
    ['a server that is no maitred', () => fakeEngine().then(({ url }) => url), 'not as a maitred gateway'],
  ])('fails with one clear line for %s', async (_, start, said) => {
    const { code, out, errors } = await why(await start(), 'p');
    expect([code, out, errors.length]).toEqual([1, '', 1]);
    expect(errors[0]).toContain(said);
  });

  itRefuses(
    (...args) => run(['why', 'p', ...args]),
    ['--url gateway:8080', '--url http://user:pass@host', '--url ftp://host'],
  );
});

it('wraps at words, and leaves longer words whole', () => {
  expect(wrapped('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapped('a-very-long-word b', 5)).toEqual(['a-very-long-word', 'b']);
});
