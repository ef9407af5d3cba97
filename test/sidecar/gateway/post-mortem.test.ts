import { describe, expect, it } from 'vitest';
import type { PastCallList } from '../../../sidecar/admin/answers.js';
import { bearer, held, keysOf, lone, named, ONE_AT_A_TIME, refusal, until } from './world.js';
import type { Told } from './queued.js';

describe('a program with a budget', () => {
  it('is explained with what it has used, and its refused call', async () => {
    const { chat, counted, read } = await lone(undefined, { budget: { tokens: 1e9 } });
    const call = () => chat({}, { ...named('p'), 'x-maitred-budget': 'calls=2' });
    expect((await call()).status).toBe(200);
    expect((await read<Told>('/programs/p/explain')).text).toMatch(
      /Of its budget it has used \d+ of 1,000,000,000 tokens, 1 of 2 calls\.$/,
    );
    expect((await call()).status).toBe(200);
    const over = await call();
    expect(refusal(over)).toEqual([403, 'budget_exceeded']);
    expect(over.headers).toMatchObject({
      'x-maitred-program': 'p',
      'x-maitred-budget-left': expect.stringMatching(/, calls=0$/) as string,
    });
    expect(await counted('calls_rejected_total{code="budget_exceeded"}')).toBe(1);
    expect(await read('/totals')).toMatchObject({ failed: [{ code: 'budget_exceeded', calls: 1 }] });
    const { text, program } = await read<Told>('/programs/p/explain');
    expect(text).toMatch(
      /Its last call, \S+: Refused with 403 budget_exceeded before it entered the queue: The program "p" has used its budget: .*\.\n/,
    );
    expect(text).toContain(' 2 of 2 calls: its next call is refused (budget_exceeded).');
    expect(program).toMatchObject({
      budget: [{ name: 'tokens' }, { name: 'calls', unit: 'calls', used: 2, limit: 2 }],
    });
    expect((await read<PastCallList>('/programs/p/calls')).calls).toMatchObject([
      {},
      {},
      { outcome: 'refused', status: 403 },
    ]);
    await chat({}, named('free'));
    // Of a program that runs on, it stands last.
    expect(await read('/programs/free')).toMatchObject({ budget: [{ name: 'tokens' }] });
  });
});

describe('a program that is ended while a call of it runs', () => {
  it.each([
    ['operator', '?by=operator', 'ends, because an operator ended it'],
    ['ended', '', 'ends, because its client said that it was over'],
  ])('is known until that call has ended (%s)', async (ending, query, words) => {
    const { engine, open, chat, ask, read } = await held();
    const answer = chat({}, named('p'));
    await until(() => engine.seen.length === 1);
    const before = await read<Told>('/programs/p/explain');
    expect(await read('/programs/p')).toMatchObject({ ending: null });
    const listed = async (filter: string) => (await read<{ programs: object[] }>(`/programs${filter}`)).programs;
    const ended = (await ask(`/programs/p/end${query}`, { method: 'POST' })).json();
    const text = 'p ends with its last call: 1 call still runs.';
    expect(ended).toEqual({ ended: true, id: 'p', tenant: 'default', text });
    for (const filter of ['', '?state=active', '?state=ending', '?state=running'])
      expect(await listed(filter)).toMatchObject(filter === '?state=running' ? [] : [{ id: 'p', state: 'ending' }]);
    expect(await read('/programs?by=tenant')).toMatchObject({ groups: [{ programs: 1, running: 1 }] });
    const [{ call } = { call: '' }] = before.program.active;
    for (const id of ['p', 'default:p', call]) {
      const { text, program } = await read<Told>(`/programs/${id}/explain`);
      expect(text).toMatch(
        new RegExp(`^Program "p" ${words}; 1 call still runs\\.\n\nCall ${call} of program "p" has run for `),
      );
      expect(program).toMatchObject({ ending, active: [{ call }] });
    }
    expect(await read('/programs/p')).toMatchObject({ id: 'p', ending, active: [{ call }] });
    // The next call begins another program of the name, which goes before it.
    const next = chat({}, { ...named('p'), 'x-maitred-budget': 'calls=9' });
    await until(() => engine.seen.length === 2);
    expect(await read('/programs/p')).toMatchObject({ ending: null, calls: 1 });
    expect(await listed('')).toMatchObject([{ id: 'p', state: 'running' }]);
    expect((await read<Told>(`/programs/${call}/explain`)).text).toContain(`Program "p" ${words}; `);
    await ask('/programs/p/end', { method: 'POST' });
    // Both of this name have been ended by now.
    expect(await read('/programs/p')).toMatchObject({ active: [{ call }] });
    expect(await listed('')).toHaveLength(1);
    open();
    await Promise.all([answer, next]);
    expect(await listed('')).toEqual([]);
  });

  it('is told with the end of that call, which no later call of its name replaces', async () => {
    const { engine, open, chat, ask, waiting, read } = await held({
      ...ONE_AT_A_TIME,
      timeouts: { noEngineMs: 50 },
      health: { intervalMs: 20, failuresMax: 1 },
    });
    const first = chat({}, named('first'));
    await until(() => engine.seen.length === 1);
    const second = chat({}, named('second'));
    await until(async () => (await waiting()) === 1);
    const { text } = (await ask('/programs/second/end?by=operator', { method: 'POST' })).json();
    expect(text).toBe('second ends with its last call: 1 call still waits.');
    await engine.close();
    open();
    await Promise.all([first, second]);
    await chat({ model: 'gpt-4' }, named('second'));
    const { text: why } = await read<Told>('/programs/second/explain');
    expect(why).toMatch(
      /: an operator ended it\.\nIt had 1 call in .*, and waited .* in all\.\nIts last call, \S+( on \S+)?: It failed with 50\d \w+ after [^]*\nA later request of its name, \S+: Refused with 404 unknown_model before /,
    );
    await chat({ model: 'gpt-4' }, { ...named('second'), 'x-request-id': 'r-2' });
    expect((await read<Told>('/programs/second/explain')).text).toContain(
      '\n2 later requests of its name; the last, r-2: Refused ',
    );
  });

  it('is told with all of its calls, of which its detail shows 100', async () => {
    const { open, chat, ask, read } = await held();
    const calls = Array.from({ length: 105 }, () => chat({}, named('p')));
    await until(async () => (await read<{ active_calls: number }>('/programs/p')).active_calls === calls.length);
    const { text } = (await ask('/programs/p/end', { method: 'POST' })).json();
    expect(text).toMatch(/^p ends with its last call: \d+ calls still run and \d+ wait, and 5 later ones\.$/);
    open();
    await Promise.all(calls);
  });

  it('takes nothing with it of the next program of its name', async () => {
    const { engine, open, chat, ask, read } = await held();
    const leaving = new AbortController();
    const answer = chat({}, named('p'), leaving.signal).catch(() => undefined);
    await until(() => engine.seen.length === 1);
    await ask('/programs/p/end', { method: 'POST' });
    const next = chat({}, { ...named('p'), 'x-maitred-budget': 'calls=9' });
    await until(() => engine.seen.length === 2);
    leaving.abort();
    await answer;
    await expect.poll(async () => (await read<{ programs: object[] }>('/ended')).programs).toHaveLength(1);
    expect(await read('/programs/p')).toMatchObject({ model: 'm', budget: [{ name: 'calls', limit: 9 }] });
    open();
    await next;
  });
});

describe('a request that is refused before it is a call', () => {
  it('is explained by its program, and by its own id', async () => {
    const { chat, ask, read } = await lone(undefined, { limits: { pastCalls: 2 } });
    const why = async (id: string) => (await read<Told>(`/programs/${id}/explain`)).text;
    const ids = (id: string) => ({ 'x-request-id': id });
    await chat({ model: 'gpt-4' }, { 'session-id': 'first', ...ids('r-1') });
    const said =
      'Refused with 404 unknown_model before it entered the queue: No engine serves the model "gpt-4". There are: m.';
    expect(await why('first')).toBe(`No call of program "first" waits or runs.\nIts last call, r-1: ${said}`);
    expect(await why('default:first')).toContain(said);
    expect(await why('r-1')).toBe(`Call r-1 of program "first" has ended. ${said}`);
    expect(await read('/programs/default:first/calls')).toMatchObject({
      calls: [{ call: 'r-1', outcome: 'refused', model: '', message: said.split('queue: ')[1] }],
    });
    for (const id of ['first', 'default:first'])
      expect((await ask(`/programs/${id}/explain?tenant=other`)).status).toBe(404);
    // Those that name no program do not displace all others.
    for (const id of ['r-2', 'r-3', 'r-4']) await chat({ max_tokens: 0 }, ids(id));
    expect(await why('r-4')).toMatch(
      /^Call r-4 has ended\. Refused with 400 invalid_body before it entered the queue: .*max_tokens/,
    );
    expect((await ask('/programs/r-2/explain')).status).toBe(404);
    await chat({}, named('p'));
    await chat({ model: 'gpt-4' }, { ...named('p'), ...ids('p') });
    expect(await why('p')).toMatch(/^Program "p" is idle: .*\nIts last call, p: Refused with 404 unknown_model before/);
    // Its client asked again, in vain and with success.
    await chat({ max_tokens: 0 }, named('p'));
    expect(await why('p')).toMatch(
      /\nIts last call, .*: Refused with 400 [^]*\nIts last call to fail with unknown_model, .* ago, p: Refused with 404 /,
    );
    await chat({}, named('p'));
    expect(await why('p')).toMatch(
      /\nIts last call, .*: Answered after .*\n.*\nIts last call to fail with invalid_body, /,
    );
    // A request by the id of a call does not hide it.
    const call = String((await chat({}, named('q'))).headers['x-maitred-call']);
    await chat({ model: 'gpt-4' }, { ...named('r'), ...ids(call) });
    expect(await why(call)).toMatch(new RegExp(`^Call ${call} of program "q" has ended\\. Answered after `));
  });

  it('is not remembered of those whom the gateway does not know', async () => {
    const keys = [{ sha256: '0'.repeat(64), tenant: 't' }];
    const { chat, ask } = await lone(undefined, { auth: { keys }, admin: { token: 'a-long-admin-token' } });
    expect((await chat({}, { ...named('p'), 'x-request-id': 'r-1' })).status).toBe(401);
    const headers = { authorization: 'Bearer a-long-admin-token' };
    for (const id of ['p', 'r-1']) expect((await ask(`/programs/${id}/explain`, { headers })).status).toBe(404);
  });
});

it('names the programs that begin alike, present or ended', async () => {
  const { ask, chat } = await lone();
  const of = async (id: string) => {
    const { status, text } = await ask(`/programs/${id}/explain`);
    return [status, text];
  };
  const names = (list: string): unknown[] => [400, expect.stringContaining(`2 programs begin like this: ${list}.`)];
  for (const name of ['zeta-1', 'zeta-2']) await chat({}, named(name));
  expect(await of('zeta')).toEqual(names('\\"zeta-1\\", \\"zeta-2\\"'));
  // One of them twice.
  for (const name of ['zeta-1', 'zeta-2', 'zeta-2']) await chat({}, { ...named(name), 'x-maitred-final': 'true' });
  expect(await of('zeta')).toEqual(names('\\"zeta-2\\", \\"zeta-1\\"'));
  expect((await of('zeta-2'))[0]).toBe(200);
  // A whole id goes before a beginning, though its program has ended.
  for (const name of ['zeta-20', 'zeta-21']) await chat({}, named(name));
  expect(await of('zeta-2')).toEqual([200, expect.stringContaining('Program \\"zeta-2\\" ended')]);
  for (const name of ['zeta-20', 'zeta-21']) await chat({}, { ...named(name), 'x-maitred-final': 'true' });
  // What is known of exactly this name comes first.
  await chat({ model: 'gpt-4' }, named('zeta'));
  expect(await of('zeta')).toEqual([200, expect.stringContaining('Refused with 404 unknown_model')]);
});

it('asks which tenant is meant if several had the ended program', async () => {
  const { admin, chat } = await lone(undefined, { auth: { keys: keysOf('a', 'b') }, admin: { port: 0 } });
  const of = async (query: string) => (await admin(`/programs/p-1/explain${query}`)).text;
  const end = (tenant: string) => chat({}, { ...bearer(tenant), ...named('p-1'), 'x-maitred-final': 'true' });
  await end('a');
  expect(await of('')).toContain('Program \\"p-1\\" ended');
  await end('b');
  expect(await of('')).toContain(
    'Several tenants have such a program, as \\"b\\", \\"a\\": name one of them (--tenant).',
  );
  expect(await of('?tenant=b')).toContain('Program \\"p-1\\" ended');
});

it('names the known parameters, and all that an id may be', async () => {
  const { ask } = await lone();
  expect((await ask('/programs?stat=waiting')).text).toMatch(
    /\"stat\\" is not known here\. There are: limit, offset, .*state/,
  );
  expect((await ask('/programs/738a/explain')).text).toContain(
    'No program, call or batch \\"738a\\" is known. The gateway started ',
  );
});
