import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { speedWarning, warningsOf } from '../../loadtest/warnings.js';
import { world } from '../sidecar/gateway/world.js';
import { engine } from '../sim/client.js';
import { call, chain, front, load, PART, program, singles } from '../support/load.js';

const byCall = <T extends { readonly call: number }>(records: readonly T[]): readonly T[] =>
  records.toSorted((a, b) => a.call - b.call);

it('tells how late calls were in the time of the report, which is that at real speed', () => {
  const options = { connections: 9, ignoreEos: true, timeScale: 8 };
  const [late_send_ms, loop_lag_ms] = [
    { mean: 62, p99: 656, max: 700 },
    { mean: 9, p99: 100, max: 120 },
  ];
  const generator = { cpu_share: 0.1, calls_in_flight_max: 3, late_send_ms, loop_lag_ms };
  expect(warningsOf({ options, targets: [], generator, programsTooLong: 0, isTooMany: false })).toEqual([
    'This machine was too busy: 1 % of calls went out 5.25 s late or more (event-loop lag p99 0.8 s, 10 % of one core). Latencies include this. Repeat on an idle machine.',
  ]);
});

describe('a program', () => {
  it('makes each call when all those that it waits for have ended, and its gap is over', async () => {
    const handle = await engine();
    const graph = program(
      'graph',
      call(),
      call({ after: [0], gapMs: 30, thread: 'a', outputTokens: 200 }),
      call({ after: [0], thread: 'b' }),
      call({ after: [1, 2], gapMs: 20 }),
      call({ after: [], gapMs: 5 }),
    );
    const { calls, programs } = await load({ targets: [handle.url], programs: () => [graph] });
    const [first, a, b, join, own] = byCall(calls);
    const arrivedMs = programs[0]?.arrivedMs ?? NaN;
    expect(first?.arrivedMs).toBe(arrivedMs);
    expect(own?.arrivedMs).toBe(arrivedMs + 5);
    expect(a?.arrivedMs).toBe((first?.endedMs ?? NaN) + 30);
    expect(b?.arrivedMs).toBe(first?.endedMs);
    expect(join?.arrivedMs).toBe(Math.max(a?.endedMs ?? NaN, b?.endedMs ?? NaN) + 20);
    for (const { arrivedMs: meant, sentMs, firstTokenMs, endedMs } of calls) {
      expect(sentMs).toBeGreaterThanOrEqual(meant);
      expect(firstTokenMs).toBeGreaterThan(sentMs);
      expect(endedMs).toBeGreaterThanOrEqual(firstTokenMs);
    }
    expect(programs[0]).toMatchObject({ calls: 5, callsCancelled: 0, outcome: 'completed', endedMs: join?.endedMs });
  });

  it('has its time told apart, along the chain that it took', async () => {
    const handle = await engine();
    const { calls, programs } = await load({ targets: [handle.url], programs: () => [chain('c', 3, { gapMs: 25 })] });
    const [record] = programs;
    if (record === undefined) throw new Error('no program');
    const lateMs = calls.reduce((sum, { arrivedMs, sentMs }) => sum + sentMs - arrivedMs, 0);
    expect(record.toolMs).toBe(75);
    expect(record.queueMs).toBeNaN();
    expect(record.toolMs + record.engineMs + lateMs).toBeCloseTo(record.endedMs - record.arrivedMs, 6);
  });

  it('has shorter gaps by a cap and a scale', async () => {
    const handle = await engine();
    const { programs } = await load({
      targets: [handle.url],
      programs: () => [chain('c', 2, { gapMs: 1e6 })],
      gapMsMax: 100,
      timeScale: 10,
    });
    expect(programs[0]?.toolMs).toBe(20);
  });

  it('is told how long it would take alone, by an estimate', async () => {
    const handle = await engine({ speed: 2 });
    const { summary, programs } = await load({
      targets: [handle.url],
      programs: () => [chain('c', 2, { gapMs: 100 })],
      baseline: 'estimate',
    });
    const { alone } = summary.targets[0] ?? {};
    expect(alone?.outputTokenMs).toBeGreaterThan(0);
    expect(programs[0]?.aloneMs).toBeGreaterThan(200 + 2 * 8 * (alone?.outputTokenMs ?? NaN));
    expect(programs[0]?.aloneMs).toBeLessThan(5000);
  });
});

it('two targets that are one server, or have an engine in common, are refused', async () => {
  const [one, other] = [await engine(), await engine()];
  const [gateway, twin, apart] = [await world([one]), await world([one]), await world([other])];
  const run = (...targets: readonly string[]) => load({ targets, programs: () => singles(1), timeScale: 2000 });
  for (const targets of [
    [one.url, `${one.url.replace('127.0.0.1', 'localhost')}/v1/`],
    [gateway.url, twin.url],
    [gateway.url, one.url],
  ])
    await expect(run(...targets)).rejects.toThrow(`both targets use ${one.url} and would compete for it: run them one`);
  expect(one.stats().requests).toBe(0);
  expect((await run(gateway.url, apart.url)).programs).toHaveLength(2);
});

describe('the speed of a run', () => {
  it.each([
    [2000, []],
    [500, [/has --speed 2000, this load --speed 500: calls are 4 times too fast /]],
    [4000, [/has --speed 2000, this load --speed 4000: calls are 2 times too slow /]],
  ])('is compared with that of the engine behind a gateway: %d', async (timeScale, wanted) => {
    const { url } = await world([await engine()]);
    const warnings: string[] = [];
    const onWarning = (warning: string) => void warnings.push(warning);
    const { summary } = await load({ targets: [url], programs: () => singles(1), timeScale, onWarning });
    expect(warnings).toEqual(wanted.map((each) => expect.stringMatching(each) as string));
    expect(summary.warnings).toEqual(expect.arrayContaining(warnings));
  });

  it('is warned of where the engine tells none', () => {
    expect(speedWarning({ url: 'http://e', speed: undefined }, 1)).toBeUndefined();
    expect(speedWarning({ url: 'http://e', speed: undefined }, 8)).toMatch(
      /^http:\/\/e tells no speed of its engine: /,
    );
  });
});

describe('a disturbed run', () => {
  it('is told by what the gateway says of itself: engines that left, and calls of others', async () => {
    const engines = [await engine(), await engine()];
    const { url, chat, engines: rows, post } = await world(engines);
    const [{ id } = { id: '' }] = await rows();
    const run = async (...meanwhile: (() => Promise<unknown>)[]) => {
      const options = { targets: [url], programs: () => [chain('c', 2, { gapMs: 700_000 })], timeScale: 2000 };
      const { summary } = await load({ ...options, onProgress: () => void meanwhile.shift()?.() });
      return summary;
    };
    // A busy machine adds warnings of its own.
    expect((await run()).targets[0]?.disturbances).toEqual([]);
    const { warnings } = await run(() => chat({ model: 'llama-3.1-8b' }));
    expect(warnings).toContain(
      `At ${url}, during the run: 1 call came from others. The figures are not of this load alone: repeat it undisturbed.`,
    );
    const left = await run(() => post(`/engines/${id}/drain?force`, {}));
    expect(left.targets[0]?.disturbances).toEqual([`${id} is draining`]);
    expect(left.warnings.join()).not.toContain('undisturbed');
  });

  it('is told by calls that broke off where the gateway tells nothing without its token', async () => {
    let isGoing = false;
    const leaves = (response: ServerResponse) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(PART, () => response.destroy());
    const broken = await front(await engine(), (path) => (isGoing && path.includes('chat') ? leaves : undefined));
    const { url } = await world([{ url: broken }], { admin: { token: 'secret-token' } });
    const programs = () => ((isGoing = true), singles(2));
    const { summary } = await load({ targets: [url], programs });
    expect(summary.targets[0]?.disturbances).toEqual(['2 calls broke off, as when an engine leaves']);
  });
});

describe('two targets', () => {
  it('get the same programs at the same times, and take turns in being first', async () => {
    const [one, other] = [await engine(), await engine()];
    const all = singles(10, { promptTokens: 200 });
    const { calls, programs, summary } = await load({
      targets: [one.url, other.url],
      programs: () => all,
      arrivals: { type: 'open', ratePerSecond: 200, cv: 1 },
    });
    const of = (target: number) =>
      programs.filter((each) => each.target === target).toSorted((a, b) => a.index - b.index);
    expect(of(0).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const shape = ({ program: id, index, arrivedMs, promptTokens }: (typeof programs)[number]) => [
      id,
      index,
      arrivedMs,
      promptTokens,
    ];
    expect(of(0).map(shape)).toEqual(of(1).map(shape));
    const sent = (target: number) =>
      calls
        .filter((each) => each.target === target)
        .map(({ sentMs }) => sentMs)
        .sort((a, b) => a - b);
    const isFirst = sent(0).map((at, index) => at < (sent(1)[index] ?? NaN));
    expect(isFirst).toEqual(Array.from({ length: 10 }, (_, index) => index % 2 === 0));
    expect(summary.targets.map(({ url }) => url)).toEqual([one.url, other.url]);
  });

  it('do not find the texts of one another in a cache that they share', async () => {
    const handle = await engine();
    // Behind a proxy it cannot be told.
    const targets = [handle.url, await front(handle, () => undefined)];
    const { calls } = await load({ targets, programs: () => singles(4, { promptTokens: 200 }) });
    expect(calls).toHaveLength(8);
    expect(calls.filter(({ cachedTokens }) => cachedTokens > 0)).toEqual([]);
  });

  it('are not compared in a further run once one of them has gone', async () => {
    const [one, other] = [await engine(), await engine()];
    const { summary } = await load({
      targets: [one.url, other.url],
      programs: (run) => {
        if (run === 1) void other.close();
        return singles(1);
      },
      runs: 3,
      arrivals: { type: 'closed', concurrency: 1 },
    });
    expect(summary).toMatchObject({
      complete: true,
      runs: 2,
      targets: [{ goneMs: undefined }, { goneMs: expect.any(Number) as number }],
    });
  });
});

describe('a run', () => {
  it('tells that its target went away with the last calls', async () => {
    const handle = await engine({ speed: 1 });
    const onProgress = ({ callsInFlight }: { callsInFlight: number }) => callsInFlight > 0 && void handle.close();
    const long = singles(1, { outputTokens: 100_000 });
    const { summary, calls } = await load({ targets: [handle.url], programs: () => long, onProgress });
    expect(calls[0]).toMatchObject({ outcome: 'broken_stream', endedMs: summary.targets[0]!.goneMs });
  });

  it('ends with what there is when it is stopped', async () => {
    const handle = await engine({ speed: 1 });
    const stop = new AbortController();
    const long = ['c', 'd'].map((id) => program(id, call({ outputTokens: 100_000 })));
    const all = [...singles(2, { outputTokens: 1 }), ...long];
    const onProgress = ({ programsEnded }: { programsEnded: number }) => programsEnded === 2 && stop.abort();
    const { summary, programs } = await load({ targets: [handle.url], programs: () => all, onProgress }, stop.signal);
    expect(programs.map((each) => each.program).sort()).toEqual(['p0', 'p1']);
    expect(summary).toMatchObject({ complete: false, programsUnfinished: 2 });
    await expect.poll(() => handle.stats().running + handle.stats().waiting).toBe(0);
  });

  it('tells the gateway of the programs that it has broken off', async () => {
    const stop = new AbortController();
    const begun = new Set<unknown>();
    const ended: string[] = [];
    const target = await front(await engine(), (path, _body, { 'x-maitred-program': name }) => {
      if (path.endsWith('/end')) ended.push(path);
      if (name === undefined) return path.endsWith('/end') ? { status: 200, text: '{}' } : undefined;
      if (begun.add(name).size === 3) stop.abort();
      return (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(PART);
    });
    const { summary } = await load({ targets: [target], programs: () => singles(3), identity: 'maitred' }, stop.signal);
    expect(summary).toMatchObject({ complete: false, programsUnfinished: 3 });
    expect(ended.sort()).toEqual([...begun].map((name) => `/programs/${String(name)}/end`).sort());
  });
});
