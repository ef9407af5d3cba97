import { describe, expect, it } from 'vitest';
import type * as Answers from '../../../sidecar/admin/answers.js';
import { WAIT_CAUSES } from '../../../src/index.js';
import { fakeEngine, held, heldEngine, lone, named, ONE_AT_A_TIME, post, replies, until, world } from './world.js';
import { says } from './misbehaving.js';
import { run } from '../../support/command-line.js';
import { queued, type Told } from './queued.js';

describe('a waiting call', () => {
  it('is explained: its cause, with figures and in words, in /programs/{id}, /queue and metrics', async () => {
    const { url, engine, open, read, metrics, answers } = await queued();
    const cause = { cause: 'window', engine: engine.id, needs: 1, free: 0, limit: 1, ahead: 0 };
    expect(await read('/programs/second')).toMatchObject({ active: [{ state: 'waiting', waiting_for: cause }] });
    expect(await read('/programs/first')).toMatchObject({ active: [{ state: 'running', waiting_for: null }] });

    const rows = [
      { id: 'first', state: 'running', current_wait_cause: null },
      { id: 'second', state: 'waiting', current_wait_cause: 'window' },
    ];
    for (const filter of ['', '?state=active'])
      expect(await read(`/programs${filter}`)).toMatchObject({ programs: rows });
    const { out } = await run(['why', '--url', url]);
    expect(out.replaceAll('\n', ' ')).toMatch(
      /^1 engine up\. 1 call runs, 1 waits for the window, .*\. {2}Call \S+ of program "second" has waited \S+ m?s for the window of \S+\. /,
    );
    // Neither has promotions: of equals, those that wait come first.
    for (const sort of ['promotions', '-promotions'])
      expect(await read(`/programs?sort=${sort}`)).toMatchObject({ programs: rows.toReversed() });

    const told = await read<Told>('/programs/second/explain');
    expect(told).toMatchObject({ program: { ...rows[1], active: [{ waiting_for: cause }] } });
    const [{ call: id }] = told.program.active as [Answers.ActiveCall];
    expect(told.text).toContain(id);
    expect(told.text).toContain(engine.id);
    expect(told.text).toMatch(
      /^Call .* has waited \S+ m?s for the window of \S+\.\n\S+ has 1 call in flight, of 1 at most\. No call is ahead of it\.\nMost tokens in flight there: "first" \(1 call, [\d,]+ tokens\)\.\nIt stands at level 0 \(0 goes first\), by the engine time that its program is likely to need until its end; its ended calls have taken 0 s of engine time\.\n[^]*In .* it is overdue: then it is first in line, and idle contexts make way for it\.\n[^]*What helps: more engines, or a larger engines\[\]\.window if it could take more\.$/,
    );
    // A call's own id finds it too, and so does that of its request.
    for (const each of [id, 'r-2'])
      expect(await read(`/programs/${each}/explain`)).toMatchObject({
        program: { id: 'second', active: [{ call: id }] },
      });

    expect(await read('/queue')).toMatchObject({ waiting_for: { window: 1, kv: 0 } });
    const samples = await metrics();
    for (const each of WAIT_CAUSES)
      expect(samples.get(`maitred_waiting_calls{cause="${each}"}`), each).toBe(each === 'window' ? 1 : 0);
    open();
    await Promise.all(answers);
  });
});

it('tells background calls apart: who waits for an answer comes first', async () => {
  const { engine, open, read, chat, waiting } = await held(ONE_AT_A_TIME);
  const answers = [chat({}, named('first'))];
  await until(() => engine.seen.length === 1);
  answers.push(chat({ service_tier: 'flex' }, named('later')), chat({}, named('second')));
  await until(async () => (await waiting()) === 2);
  expect(await read('/programs?sort=-current_wait_seconds')).toMatchObject({
    programs: [{ id: 'second' }, { id: 'first' }, { id: 'later' }],
  });
  expect(await read('/gateway')).toMatchObject({
    status: {
      text: expect.stringMatching(
        / 1 call runs, 1 waits, the longest for \S+ m?s, and 1 in the background, all for the window\.$/,
      ) as string,
      title: '1 waiting',
    },
  });
  const { text } = await read<Told>('/programs/later/explain');
  expect(text).toMatch(
    / for the window of \S+, in the background\.\n[^]*\nIt is a background call: all others go before it\.\n[^]*What helps: a quieter hour/,
  );
  open();
  const levels = (await Promise.all(answers)).map(({ headers }) => headers['x-maitred-level']);
  expect(levels).toEqual(['0', undefined, '0']);
  const { text: idle, program } = await read<Told>('/programs/later/explain');
  expect(idle).toMatch(/\nIt was sent in the background, when its turn came\./);
  expect(program).toMatchObject({ background: true });
});

it('names the engines that would serve a call, and drops what comes after its refusal', async () => {
  const { engine, url, read, chat, waiting } = await lone(undefined, {
    engine: { id: 'gpu-1', window: 4, capacityTokens: 1000 },
    health: { intervalMs: 20, failuresMax: 1 },
    timeouts: { noEngineMs: 2000 },
  });
  await engine.close();
  const gone = { state: 'down', window: null, gate_tokens: null, rest_tokens: null, capacity_tokens: 1000 };
  await expect.poll(() => read('/engines/gpu-1')).toMatchObject(gone);
  const answer = chat({}, named('p'));
  await until(async () => (await waiting()) === 1);
  const { out } = await run(['why', '--url', url]);
  expect(out.replaceAll('\n', ' ')).toMatch(/gpu-1 serves "m" and has been down for .* \(.*\).*It is refused in/);
  expect(out).not.toContain('make way');
  // Worse than that a call waits.
  expect(await read('/gateway')).toMatchObject({ status: { level: 'bad' } });
  expect((await answer).status).toBe(503);
});

it('names an engine that is down first in what helps a call that waits at another', async () => {
  const [{ engine: gpu1, open }, gpu2] = [await heldEngine(), await fakeEngine()];
  const engines = [
    { id: 'gpu-1', url: gpu1.url, window: 1 },
    { id: 'gpu-2', url: gpu2.url },
  ];
  const { chat, read, waiting } = await world([], { engines, health: { intervalMs: 20, failuresMax: 1 } });
  await gpu2.close();
  await expect.poll(() => read('/engines/gpu-2')).toMatchObject({ state: 'down' });
  const answers = [chat({}, named('first'))];
  await until(() => gpu1.seen.length === 1);
  answers.push(chat({}, named('second')));
  await until(async () => (await waiting()) === 1);
  expect((await read<Told>('/programs/second/explain')).text).toMatch(
    /\ngpu-2 serves "m" and has been down for .* \(.*\).*\.\n[^]*What helps: (?:restart or )?start gpu-2[^;]*; else more engines/,
  );
  open();
  await Promise.all(answers);
});

it('names an engine that fails calls in what helps a call that waits at another, and in its row', async () => {
  const [{ engine: gpu1, open }, gpu2] = [await heldEngine(), await fakeEngine(replies(500, {}))];
  const engines = [
    { id: 'gpu-1', url: gpu1.url, window: 1 },
    { id: 'gpu-2', url: gpu2.url },
  ];
  const { chat, read, waiting } = await world([], { engines, health: { failuresMax: 99 } });
  const answers = Array.from({ length: 12 }, (_, at) => chat({}, named(`p-${at}`)));
  await until(async () => (await waiting()) === 11);
  await expect.poll(() => read('/engines/gpu-2')).toMatchObject({ state: 'up', failing: true });
  expect((await read<Answers.Engine>('/engines/gpu-2')).text).toMatch(/^Fails calls\. \d+ of \d+ attempts failed /);
  const told = await Promise.all(answers.map((_, at) => read<Told>(`/programs/p-${at}/explain`)));
  expect(told.filter(({ text }) => / has waited /.test(text)).at(-1)?.text).toMatch(
    /\ngpu-2 serves "m" and fails calls\.\n[^]*\nWhat helps: maitred engines drain gpu-2, and read its log; else more engines/,
  );
  open();
  await Promise.all(answers);
});

it('says of a running call that its engine is down, and what ends it, in words, rows, figures and metrics', async () => {
  const { engine, open, url, chat, leavingChat, read, counted } = await held({
    engine: { id: 'gpu-1' },
    health: { intervalMs: 20, timeoutMs: 100, failuresMax: 40 },
  });
  const answer = chat({}, named('p'));
  await until(() => engine.seen.length === 1);
  const impatient = leavingChat({}, named('q'));
  const early = leavingChat({}, named('r'));
  await until(() => engine.seen.length === 3);
  engine.routes.set('/v1/models', () => undefined);
  await expect
    .poll(() => read('/engines/gpu-1'))
    .toMatchObject({
      state: 'up',
      text: expect.stringMatching(/ no call and no probe for .*s; 3 calls run there\.$/) as string,
    });
  expect((await run(['why', '--url', url, 'p'])).out).toMatch(
    / on gpu-1\.\ngpu-1 has answered no call and no probe for /,
  );
  expect(await counted('engine_silent_seconds{engine="gpu-1"}')).toBeGreaterThan(0.1);
  early.leave();
  await early.call;
  engine.routes.set('/v1/models', 500);
  await expect.poll(() => read('/engines/gpu-1')).toMatchObject({ state: 'down', in_flight: 2 });
  expect(await counted('engine_in_flight_calls{engine="gpu-1"}')).toBe(2);
  const { text } = (await read<Answers.GatewayState>('/gateway')).status;
  expect(text).toMatch(/^0 of 1 engine up for .*: each call .* gpu-1 has been down for /);
  expect(text).toMatch(/ 2 calls hang where the engine is down, none waits\. 1 of 1 call failed /);
  expect(await read('/programs?state=active')).toMatchObject({
    programs: [{ state: 'running', engines_down: ['gpu-1'] }, {}],
  });
  const { out } = await run(['why', '--url', url, 'p']);
  expect(out).toMatch(/^Call \S+ of program "p" has run for .* on gpu-1, which is down\./);
  expect(out.replaceAll('\n', ' ')).toMatch(/No byte of its answer has come: it is cut in (10 min|9 min 5\d s) \(/);
  expect(out).toContain('What helps: restart gpu-1, or read its log; else its client ends the call');
  impatient.leave();
  await impatient.call;
  await until(async () => (await counted('calls_ended_total{outcome="timed_out"}')) === 1);
  const { text: after } = await read<Told>('/programs/q/explain');
  expect(after).toMatch(/: Its client left after \S+ m?s, of which gpu-1 had been down for the last \S+ m?s\.\n/);
  const [ended] = (await read<Answers.PastCallList>('/programs/q/calls')).calls;
  expect(ended).toMatchObject({ outcome: 'timed_out', status: 499, code: 'engine_timeout' });
  const { active } = await read<Answers.ProgramDetail>('/programs/p');
  for (const { hung_seconds: hung, service_seconds: lasted } of [ended, active[0]] as Answers.ActiveCall[])
    expect(0 < hung && hung <= lasted).toBe(true);
  expect((await read<Told>('/programs/r/explain')).text).toMatch(
    /: Its client left after \S+ m?s\. gpu-1: silent for \S+ m?s when the client left, and found down \S+ m?s later\.\n/,
  );
  expect(await read('/totals')).toMatchObject({
    failed: [{ code: 'engine_timeout', fault: 'service', calls: 2, engine: 'gpu-1' }],
  });
  expect(await read('/engines/gpu-1')).toMatchObject({ failures: { calls: 2, last: 'down until the client left' } });
  open();
  expect((await answer).status).toBe(200);
  expect(await read('/programs/p/calls')).toMatchObject({ calls: [{ outcome: 'completed', hung_seconds: 0 }] });
});

it('says of a call that waits again what failed it', async () => {
  const { engine, open, chat, read } = await held();
  chat({}, named('p')).catch(() => undefined);
  await until(() => engine.seen.length === 1);
  await engine.close();
  open();
  const failed = /\nIts last attempt, on \S+, failed \S+ m?s ago: /;
  await expect.poll(async () => (await read<Told>('/programs/p/explain')).text).toMatch(failed);
});

it('says of a call for which its engine has no room when its client gets that answer', async () => {
  const { chat, read } = await lone(says(429, { message: 'full' }, { 'retry-after': '8' }));
  chat({}, named('p')).catch(() => undefined);
  const refused = /\nIt is refused in (?:1 min|5\d s) if engines have no room for it then\.\n/;
  await expect.poll(async () => (await read<Told>('/programs/p/explain')).text).toMatch(refused);
});

it('tells of an engine that drains, which is no trouble, and keeps its capacity', async () => {
  const engines = await Promise.all(
    ['gpu-1', 'gpu-2'].map(async (id) => ({ id, url: (await fakeEngine()).url, capacityTokens: 1000 })),
  );
  const { ask, read } = await world([], { engines });
  await expect.poll(() => read('/gateway')).toMatchObject({ status: { text: '2 engines up. No call waits.' } });
  await ask('/engines/gpu-1/drain', { method: 'POST' });
  expect(await read('/engines/gpu-1')).toMatchObject({ state: 'drained', capacity_tokens: 1000 });
  expect(await read('/gateway')).toMatchObject({ status: { level: 'good' } });
});

it('has one word for an engine that never answered, wherever one looks', async () => {
  const { url, ask, read } = await world([await fakeEngine()]);
  await post(`${url}/engines`, { id: 'gpu-2', url: 'http://127.0.0.1:1' });
  await expect.poll(() => read('/engines/gpu-2')).toMatchObject({ state: 'down', down_reason: 'connection refused' });
  const parts = [
    {
      level: 'bad',
      text: expect.stringMatching(/^gpu-2 has been down for .* \(connection refused\)/) as string,
      remedy: 'start gpu-2, or correct the url',
    },
    { level: 'good', title: '', text: '1 of 2 engines up.' },
    { level: 'good', title: '', text: 'No call waits.' },
  ];
  expect(await read('/gateway')).toMatchObject({ status: { level: 'bad', title: 'gpu-2 down', parts } });
  expect((await ask('/metrics')).text).toContain('maitred_engine_state{engine="gpu-2",state="down"} 1\n');
  expect((await run(['engines', '--url', url])).out).toMatch(
    /\n\ngpu-2: Has been down for .* \(connection refused\)\.\n/,
  );
});
