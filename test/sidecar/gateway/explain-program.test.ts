import { describe, expect, it } from 'vitest';
import type * as Answers from '../../../sidecar/admin/answers.js';
import { completion, errorCode, lone, named, refusal, replies, until, type Answer } from './world.js';
import { run } from '../../support/command-line.js';
import type { Told } from './queued.js';
import { queued } from './queued.js';

it('shows the oldest hundred of a program’s calls, and says that there are more', async () => {
  const { open, chat, read, waiting, answers } = await queued();
  for (let call = 0; call < 101; call += 1) answers.push(chat({}, named('second')));
  await until(async () => (await waiting()) === 102);
  const shown = await read<Answers.ProgramDetail>('/programs/second');
  expect([shown.active_calls, shown.active.length]).toEqual([102, 100]);
  const told = await read<Told>('/programs/second/explain');
  expect(told.program.active).toHaveLength(100);
  // The oldest one's paragraph stands for those that wait for the same.
  expect(told.text.split('\n\n')).toEqual([
    expect.stringMatching(
      /^Call [^]*\n99 more calls of it wait for the window, for .* m?s: \S+, \S+, \S+ and 96 others\.$/,
    ),
    '2 later calls are active too.',
  ]);
  open();
  await Promise.all(answers);
});

describe('a program', () => {
  it('is said to have gone home, and what its cache held then', async () => {
    let cached = 25;
    const answer: Answer = (...all) =>
      completion({
        usage: { prompt_tokens: 100, completion_tokens: 3, prompt_tokens_details: { cached_tokens: cached } },
      })(...all);
    const { chat, read } = await lone(answer, { balancer: { name: 'sticky' } });
    await chat({}, named('p'));
    for (cached of [25, 0]) await chat({}, named('p'));
    const { calls } = await read<Answers.PastCallList>('/programs/p/calls');
    const texts = calls.map(({ text }) => /home.*$/.exec(text.split('\n')[1] ?? '')?.[0]);
    expect(texts).toEqual([
      expect.stringContaining('it became the home'),
      'home, and sticky sends such a call home, where its context may be cached.',
      'home, and sticky sends such a call home; by then nothing of its prompt was cached there.',
    ]);
  });

  it('is explained by where its call runs, and once idle by its last one', async () => {
    const { url, engine, open, ask, read, answers } = await queued();
    const runs = await read<Told>('/programs/first/explain');
    expect(runs.text).toMatch(
      /^Call \S+ of program "first" has run for \S+ m?s on \S+?(, after .*)?\.\nIt was sent from level 0, without waiting\. /,
    );
    expect(runs.program.active).toMatchObject([{ state: 'running', engine: engine.id }]);
    open();
    await Promise.all(answers);
    const idle = await read<Told>('/programs/second/explain');
    expect(idle.program.active).toEqual([]);
    const { calls } = await read<Answers.PastCallList>('/programs/default:second/calls');
    expect(calls).toMatchObject([{ engine: engine.id, reason: 'queued', placement: 'spread' }]);
    const [last] = calls as unknown as [Answers.PastCall];
    expect(last.text).toMatch(/^Answered after .* It waited .*\nIt was sent from level \d, when its turn came\. /);
    expect(idle.text).toContain(last.call);
    expect(idle.text).toContain('because its prompt is short');
    expect(await read('/programs?state=active')).toMatchObject({ programs: [] });
    expect((await run(['why', '--url', url])).out).toBe('1 engine up.\nNo call waits.\n');
    const past = `/programs/${last.call}/explain`;
    const text = `Call ${last.call} of program "second" has ended. ${last.text}`;
    expect(await read(past)).toMatchObject({ text, program: { id: 'second' } });
    await ask('/programs/second/end', { method: 'POST' });
    expect(await read(past)).toMatchObject({ text, program: null });
    expect((await ask('/programs/0123456789-1/explain')).text).toContain('No call');
  });

  it('is explained by the failure of its last call', async () => {
    const { chat, read } = await lone(replies(400, '{"error":{"message":"no"}}'));
    await chat({}, named('p'));
    const { text } = await read<Told>('/programs/p/explain');
    expect(text).toMatch(/^Program "p" is idle: .*\nIts last call, \S+ on \S+: It failed with 400 after /);
    // It may be too long for all engines.
    expect(text).toMatch(
      /\nIts only attempt was sent from level 0, without waiting\. program-affinity chose \S+ of all engines with room\.$/,
    );
  });

  it('is found by the beginning of its id, if no other one’s begins so, to be explained and not to be ended', async () => {
    const { chat, ask, engine } = await lone();
    for (const id of ['fix-login-1', 'fix-login-2', 'docs']) await chat({}, named(id));
    const explained = async (id: string, query = '') => {
      const { status, text } = await ask(`/programs/${id}/explain${query}`);
      return status === 200 ? (JSON.parse(text) as { program: { id: string } }).program.id : [status, errorCode(text)];
    };
    await chat({}, named('fix-login'));
    expect(await Promise.all(['fix-login-2', 'fix-login', 'docs'].map((id) => explained(id)))).toEqual([
      'fix-login-2',
      'fix-login',
      'docs',
    ]);
    await chat({}, named('release-notes-of-may'));
    expect(await explained('rele')).toBe('release-notes-of-may');
    expect(await explained('rele', '?tenant=default')).toBe('release-notes-of-may');
    expect(await explained('rele', '?tenant=other')).toEqual([404, 'unknown_program']);
    for (const none of ['rel', 'relx', 'ease-notes']) expect(await explained(none)).toEqual([404, 'unknown_program']);
    expect(await explained('fix-')).toEqual([400, 'bad_request']);
    expect((await ask('/programs/fix-/explain')).text).toMatch(/"fix-login-1\\", \\"fix-login-2\\", \\"fix-login\\"/);
    expect((await ask('/programs/rel/explain')).text).toContain('Give at least 4 characters of its beginning.');
    expect((await ask(`/programs/${engine.id}/explain`)).text).toContain('It is an engine: see maitred engines.');
    expect((await ask('/programs/rele/end', { method: 'POST' })).status).toBe(404);
    expect((await ask('/programs/rele')).status).toBe(404);
    const made = decodeURIComponent(
      String((await chat({ messages: [{ role: 'user', content: 'new' }] })).headers['x-maitred-program']),
    );
    expect(made).toMatch(/^~/);
    expect(await Promise.all([made.slice(0, 9), made.slice(1, 9)].map((id) => explained(id)))).toEqual([made, made]);
  });

  it('is found by a name that is no ASCII, however its header was encoded, and once it has ended', async () => {
    const { chat, ask, read } = await lone();
    const at = `/programs/${encodeURIComponent('aé b')}`;
    const bytes = Buffer.from('aé b').toString('latin1');
    for (const [header, calls] of [
      [bytes, 1],
      ['aé b', 2],
    ] as const) {
      await chat({}, named(header));
      expect(await read(at)).toMatchObject({ calls });
    }
    expect((await ask(`${at}/explain?tenant=default`)).status).toBe(200);
    expect(await read(`${at}/calls`)).toMatchObject({ calls: [{}, {}] });
    expect((await ask(`${at}/end?by=operator`, { method: 'POST' })).status).toBe(200);
    expect((await ask(at)).text).toContain('an operator ended it.');
    expect(await read(`${at}/explain`)).toMatchObject({ ended: { cause: 'operator' } });
    expect(await read(`${at}/calls?tenant=default`)).toMatchObject({ calls: [{}, {}] });
    expect(await read(`${at}/calls?tenant=other`)).toMatchObject({ error: { code: 'unknown_program' } });
  });

  it('that nobody knows is a 404, and its name does not come back whole', async () => {
    const { ask } = await lone();
    const got = await ask(`/programs/${'n'.repeat(3000)}/explain`);
    expect(refusal(got)).toEqual([404, 'unknown_program']);
    expect(got.text.length).toBeLessThan(500);
  });
});
