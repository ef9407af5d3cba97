import { expect, it } from 'vitest';
import type { EndedPrograms, Program, ProgramPage, Queue } from '../../../sidecar/admin/answers.js';
import { joinEnded, joinPages, joinQueues } from '../../../sidecar/admin/joins.js';
import { readProgramQuery } from '../../../sidecar/admin/query.js';
import { wholePage } from '../../../sidecar/admin/watch.js';
import { readState } from '../../../sidecar/watch/reading.js';
import { joined, Step, type Told } from '../../../sidecar/watch/steps.js';

const row = (key: string, age: number, state = 'idle', gateway = key.slice(0, 1)) =>
  ({ key, gateway, state, age_seconds: age, current_wait_seconds: 0 }) as Program;
const pageOf = (limit: number, ...programs: Program[]): ProgramPage => ({
  programs: programs.slice(0, limit),
  total: programs.length,
  limit,
  offset: 0,
});

it('shows each row on one page, though times are rounded', () => {
  // By what the gateway knows, b2 is younger than b1.
  const keys = [0, 1, 2, 3].flatMap((offset) => {
    const query = readProgramQuery(new URLSearchParams(`sort=age_seconds&limit=1&offset=${offset}`));
    const pages = [
      pageOf(offset + 1, row('a1', 0.5), row('a2', 0.7)),
      pageOf(offset + 1, row('b2', 0.5), row('b1', 0.5)),
    ];
    return joinPages(query, pages).programs.map(({ key }) => key);
  });
  expect(keys).toEqual(['a1', 'b2', 'b1', 'a2']);
});

it('shows those first that wait or run, of rows that are equal', () => {
  const query = readProgramQuery(new URLSearchParams('sort=-current_wait_seconds'));
  const pages = [pageOf(9, row('a1', 1, 'running'), row('a2', 1)), pageOf(9, row('b1', 1, 'running'), row('b2', 1))];
  expect(joinPages(query, pages).programs.map(({ key }) => key)).toEqual(['a1', 'b1', 'a2', 'b2']);
});

it('shows all ends, the last first', () => {
  const ended = (...rows: [key: string, at: number][]) =>
    ({ programs: rows.map(([key, ended_at]) => ({ key, ended_at })) }) as unknown as EndedPrograms;
  const { programs } = joinEnded([ended(['a', 3], ['a', 1], ['b', 2]), ended(['b', 4])]);
  expect(programs.map((row) => [row.key, row.ended_at])).toEqual([
    ['b', 4],
    ['a', 3],
    ['b', 2],
    ['a', 1],
  ]);
});

it('adds the calls that wait at each gateway, by cause, and has the longest wait of all', () => {
  const queue = (waiting: number, longest: number) =>
    ({
      waiting,
      background: waiting - 1,
      limit: 10,
      longest_wait_seconds: longest,
      waiting_for: { kv: waiting },
    }) as unknown as Queue;
  expect(joinQueues([queue(2, 1), queue(3, 7), queue(1, 4)])).toEqual({
    waiting: 6,
    background: 3,
    limit: 30,
    longest_wait_seconds: 7,
    waiting_for: { kv: 6 },
  });
});

it('puts programs in the background behind all others, by their wait', () => {
  const page = (...rows: [key: string, wait: number, background: boolean][]) =>
    ({
      programs: rows.map(([key, current_wait_seconds, background]) => ({
        key,
        current_wait_seconds,
        background,
        state: 'waiting',
      })),
      total: rows.length,
    }) as never;
  for (const [sort, keys] of [
    ['-', 'cbda'],
    ['', 'dbca'],
  ] as const) {
    const query = readProgramQuery(new URLSearchParams(`sort=${sort}current_wait_seconds`));
    const pages = [page(['a', 9, true], ['b', 1, false]), page(['c', 5, false], ['d', 0, false])];
    expect(
      joinPages(query, pages)
        .programs.map(({ key }) => key)
        .join(''),
    ).toBe(keys);
  }
});

it('goes on behind the thousand rows that another gateway tells at once', async () => {
  const rows = Array.from({ length: 2500 }, (_, age) => ({ key: `k${age}`, age_seconds: age, state: 'idle' }));
  const asked: [number, number][] = [];
  const ask = (question: string) => {
    const [, , [search = '']] = JSON.parse(question) as [string, string, string[]];
    const { offset, limit } = readProgramQuery(new URLSearchParams(search));
    asked.push([offset, limit]);
    const programs = rows.slice(offset, offset + limit);
    return Promise.resolve(new Map([['b', JSON.stringify({ programs, total: rows.length, limit, offset })]]));
  };
  const context = { peers: { gateway: 'a', silent: [], ask }, driver: { now: () => 0, views: { causesOf: () => [] } } };
  const pageAt = async (offset: number) => {
    const query = readProgramQuery(new URLSearchParams(`sort=age_seconds&limit=100&offset=${offset}`));
    return (await wholePage(context as never, [], query))() as ProgramPage;
  };
  const { programs, total } = await pageAt(1950);
  expect([total, programs.length, programs[0]?.key, programs[99]?.key]).toEqual([2500, 100, 'k1950', 'k2049']);
  expect(asked.splice(0)).toEqual([
    [0, 1000],
    [1000, 1000],
    [2000, 50],
  ]);
  // No page is asked for behind the last.
  expect((await pageAt(9000)).programs).toEqual([]);
  expect(asked).toHaveLength(3);
});

it('adds up the readings of gateways, but for the room of the engines that they share', () => {
  const told = [1, 3].map((waiting) => {
    const step = new Step();
    for (const more of [0, 2]) step.read({ kv: waiting + more, gate_tokens: 900 });
    return JSON.parse(JSON.stringify(step)) as Told;
  });
  const { readings } = joined(told);
  expect([readings.of('kv'), readings.of('gate_tokens'), readings.of('turn')]).toEqual([6, 900, null]);
});

it('reads all calls in flight, and use and room of the engines that take calls', () => {
  const states = ['up', 'draining', 'down'].map((state) => ({ id: state, state }));
  const views = { engine: () => ({ inFlight: 3, window: 4, workingSetTokens: 40, capacityTokens: 100 }) };
  const byCause = { kv: 5, window: 0, turn: 0, knee: 0 };
  const driver = { views, waits: () => [], queue: () => ({ byCause, waiting: 9, background: 6 }) };
  const config = { admission: { gate: 0.5 } };
  expect(readState({ config, driver, fleet: { list: () => states } } as never)).toEqual({
    in_flight: 9,
    slots: 4,
    working_set_tokens: 40,
    gate_tokens: 50,
    ...byCause,
    crowd: 3,
  });
});
