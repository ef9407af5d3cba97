import { describe, expect, it, vi } from 'vitest';
import { main } from '../../cli/program.js';
import { fitted, printable, widthOf } from '../../cli/text.js';
import { countText, timeText } from '../../cli/top/figures.js';
import { frame, type Scene } from '../../cli/top/frame.js';
import { painted, textOf } from '../../cli/top/line.js';
import { COLUMNS, SORT_KEYS } from '../../cli/top/columns.js';
import { indexOf, makeView, press, wishOf, type View } from '../../cli/top/view.js';
import { readDetail, readEngines, readPrograms, readQueue, readWhy } from '../../cli/top/wire.js';
import { readProgramQuery } from '../../sidecar/admin/query.js';
import { serve } from '../support/load.js';

const program = (id: string, more: object = {}) => ({ id, tenant: 'default', key: `default:${id}`, ...more });
const programs = (...rows: object[]) => readPrograms({ programs: rows, total: rows.length });
const engine = (id: string, more: object = {}) => ({ id, state: 'up', window: 8, in_flight: 4, working_set_tokens: 10, capacity_tokens: 100, ...more }); // prettier-ignore
const HOSTILE = 'a\u001B[2J\n\u202Eevil\u0000漢字👩\u200D💻é\u0301\u0301\u0301\u0301';

function scene(view: View, more: Partial<Scene['snapshot']> = {}): Scene {
  const snapshot = {
    engines: readEngines({
      engines: [engine('gpu-1', { cached_share: 0.5 }), engine('gpu-2', { state: 'ejected', window: null })],
    }),
    queue: { waiting: 3, limit: 100, longest_wait_seconds: 2, waiting_for: { kv: 3 }, levels: [{ level: 5, waiting: 3 }] }, // prettier-ignore
    ...programs(
      program('first', { state: 'idle' }),
      program(HOSTILE, { active_calls: 1 }),
      program('x'.repeat(10_000)),
    ),
    gateway: { policy: 'plas', instance: 'a', started_at: 3600 - 50, draining: false },
    totals: {
      window_seconds: 300,
      program_completion_seconds: { count: 5 },
      queue_seconds: { count: 100 },
      cached_share: 0.75,
      promoted_calls: 2,
      steps: { from: 3300 },
    },
    ...more,
  };
  return { url: 'http://gateway:8080', snapshot, view, nowSeconds: 3600, away: undefined };
}

const table = makeView('-waiting_seconds', '');
const waiting = { call: HOSTILE, state: 'waiting', engine: null, waiting_for: { cause: 'kv' } };
const detail = {
  ...readDetail({ ...program(HOSTILE), threads: [{ thread: HOSTILE, calls: 3, active: [waiting] }] }),
  why: readWhy({ text: `Why it waits. ${HOSTILE} and more words. `.repeat(20) }),
};

describe('text of names', () => {
  it.each([
    [HOSTILE, 'a\uFFFD[2J\uFFFD\uFFFDevil\uFFFD漢字👩💻é\u0301\u0301', 21],
    ['\u009B31m', '\uFFFD31m', 4],
    ['\uD800', '\uFFFD', 1],
    ['ｆｕｌｌ', 'ｆｕｌｌ', 8],
    ['🇩🇪', '🇩🇪', 2],
  ])('of %j is harmless, and measured', (name, shown, width) => {
    expect(printable(name)).toBe(shown);
    expect(widthOf(printable(name))).toBe(width);
  });

  it('is cut where a wide character has no room, and padded', () => {
    expect(fitted('漢字漢字', 5)).toBe('漢字…');
    expect(fitted('漢字漢字', 6)).toBe('漢字… ');
    expect(fitted('ab', 4, 'right')).toBe('  ab');
    expect(fitted('ab', 0)).toBe('');
  });
});

it('figures take at most six columns', () => {
  expect([0, 9.96, 60, 3599, 3600, 90_000, 9e6, 1e12].map(timeText)).toEqual(['0.0s', '9s', '1m00', '59m59', '1h00', '1d1h', '104d', '11.6Md']); // prettier-ignore
  expect([0, 999, 999.9, 1000, 99_950, 999_600, 1e15].map(countText)).toEqual(['0', '999', '1.0k', '1.0k', '100k', '1.0M', '1000T']); // prettier-ignore
});

describe('a frame', () => {
  const many = { engines: readEngines({ engines: Array.from({ length: 64 }, (_, at) => engine(`gpu-${at}`, at === 60 ? { state: 'ejected' } : {})) }) }; // prettier-ignore
  const scenes: [string, Scene][] = [
    ['the table', scene(table)],
    ['no programs and engines', scene(table, { engines: [], ...programs() })],
    ['64 engines', scene(table, many)],
    ['a program', scene({ ...table, screen: 'program', selected: detail.key }, { detail })],
    ['an ended program', scene({ ...table, screen: 'program' }, { detail: null })],
    ['the help', scene({ ...table, screen: 'help', scroll: 99 })],
    ['a question', scene({ ...table, ending: programs(program(HOSTILE)).programs[0] })],
    ['a filter', scene({ ...table, filter: '漢'.repeat(200), typing: { before: '' } })],
    ['silence', { ...scene({ ...table, frozen: true }), away: { reason: 'x'.repeat(500), seconds: 3 } }],
  ];
  const sizes = [1, 5, 15, 24, 50].flatMap((rows) => [1, 40, 80, 200].map((columns) => ({ columns, rows })));

  it.each(scenes)('of %s fits every size, and holds nothing that a terminal obeys', (_, each) => {
    for (const size of sizes) {
      const lines = frame(each, size);
      expect(lines, JSON.stringify(size)).toHaveLength(size.rows);
      for (const line of lines) {
        expect(textOf(line)).toMatch(/^[^\p{Cc}\u202E]*$/u);
        // On narrower terminals the end of a line is cut.
        if (size.columns >= 40) expect(widthOf(textOf(line)), `${JSON.stringify(size)} ${textOf(line)}`).toBeLessThanOrEqual(size.columns); // prettier-ignore
        expect(widthOf(painted(line, size.columns, true).replaceAll(/\u001B\[[\d;]*m/g, ''))).toBe(size.columns);
      }
    }
  });

  it('shows the totals, each engine, and the selected program at 80 by 24', () => {
    const text = frame(scene({ ...table, selected: 'default:first' }), { columns: 80, rows: 24 }).map(textOf);
    expect(text[0]).toContain('up 50s');
    expect(text[1]).toContain('3 wait  oldest 2.0s  causes: kv 3  level:waiting 5:3');
    // Since its start.
    expect(text[2]).toContain('last 50s:  hits 75%  2 promoted  2.0 calls/s  5 programs ended');
    expect(text.find((line) => line.startsWith('gpu-1'))).toMatch(/up +\[\|+ +4\/8\] \[\|+ +10\/100\] +50%$/);
    expect(text.find((line) => line.startsWith('gpu-2'))).toMatch(/ejected +\[ +4\/-\] .* -$/);
    expect(text.find((line) => line.startsWith('>'))).toMatch(/^>first +idle/);
  });

  it('counts one of a kind as one, and shows how far a demo fleet is', () => {
    const gateway = { ...scene(table).snapshot.gateway, demo_programs: { ended: 14, total: 80 } };
    const one = { queue: readQueue({ waiting: 1 }), gateway, ...programs(program('p', { state: 'running', current_wait_seconds: 2, current_wait_cause: 'kv' })) }; // prettier-ignore
    const text = frame(scene(table, one), { columns: 80, rows: 24 }).map(textOf);
    expect(text[0]).toContain('demo: 14 of 80 ended');
    expect(text[1]).toMatch(/^1 program {2}8 calls run {2}1 waits/);
    expect(text.find((line) => line.startsWith('>'))).toMatch(/^>p +run\+wait .* 2\.0s +kv /);
  });

  it('sets the working set against the gate, and without one against the cache', () => {
    const engines = readEngines({ engines: [engine('gpu-1', { gate_tokens: 90 }), engine('gpu-2')] });
    const text = frame(scene(table, { engines }), { columns: 80, rows: 24 }).map(textOf);
    expect(text[3]).toContain('WORKING SET / GATE');
    expect(text.slice(4, 6)).toEqual([expect.stringMatching(/ 10\/90\] *$/), expect.stringMatching(/ 10\/100\] *$/)]);
  });

  it('shows the causes of waits, the most frequent first, as far as there is room', () => {
    const causesIn = (columns: number, causes: Record<string, number>) => {
      const [, line = []] = frame(scene(table, { queue: readQueue({ waiting: 3, waiting_for: causes }) }), { columns, rows: 24 }); // prettier-ignore
      return textOf(line);
    };
    const all = { no_engine: 1, window: 20, kv: 21, turn: 0, knee: 4 };
    expect(causesIn(80, all)).toMatch(/ {2}causes: kv 21 {2}window 20 {2}knee 4$/);
    expect(causesIn(100, all)).toContain('causes: kv 21  window 20  knee 4  no_engine 1');
    expect(causesIn(200, { [HOSTILE]: 1, kv: 2 })).toContain(
      `3 wait  oldest 0.0s  causes: kv 2  ${printable(HOSTILE)} 1`,
    );
  });

  it('shows a troubled engine first where not all have room, and sums the rest up', () => {
    const text = frame(scene(table, many), { columns: 80, rows: 24 }).map(textOf);
    expect(text[4]).toMatch(/^gpu-60 +ejected/);
    expect(text.some((line) => /^\d+ more: \d+ up; \d+ calls in flight/.test(line))).toBe(true);
  });

  it('tells why a call waits', () => {
    const opened = scene({ ...table, screen: 'program', selected: detail.key }, { detail });
    const text = frame(opened, { columns: 80, rows: 40 }).map(textOf).join('\n');
    expect(frame({ ...opened, view: { ...opened.view, selected: 'another' } }, { columns: 80, rows: 40 }).map(textOf).join()).toContain('reading'); // prettier-ignore
    expect(text).toMatch(/waiting {2}0\.0s for kv[\s\S]*\nWhy it waits\./);
    // Cut, it would find nothing.
    const call = { ...waiting, call: '0123456789-12345' };
    const named = {
      ...detail,
      ...readDetail({ ...program(HOSTILE), threads: [{ thread: '', calls: 3, active: [call] }] }),
    };
    const shown = frame(scene({ ...table, screen: 'program', selected: detail.key }, { detail: named }), { columns: 80, rows: 40 }); // prettier-ignore
    expect(shown.some((line) => textOf(line).includes('0123456789-12345  waiting'))).toBe(true);
  });

  it('always shows the column that it is sorted by', () => {
    for (const sort of SORT_KEYS) {
      const title = COLUMNS.find((column) => column.sort === sort)!.title;
      const text = frame(scene(makeView(sort, '')), { columns: 40, rows: 24 }).map(textOf);
      expect(text.some((line) => line.includes(`▴${title}`))).toBe(true);
    }
  });
});

describe('keys', () => {
  const { programs: rows } = programs(program('a'), program('b', { tenant: 'acme', engine: 'gpu-1' }), program('c'));
  const type = (view: View, ...names: string[]) =>
    names.reduce((now, name) => press(now.view, { name, text: name }, rows, 2), press(view, { name: '', text: '' }, rows, 2)); // prettier-ignore

  it('select a program, and follow it', () => {
    const { view } = type(table, 'down');
    expect(view.selected).toBe('default:b');
    expect(indexOf(rows.toReversed(), view)).toBe(1);
    expect(type(table, 'end').view.index).toBe(2);
    expect(type(table, 'end', 'pageup', 'up', 'up').view.index).toBe(0);
    // It has ended: the row in its place is selected.
    expect(indexOf(rows.slice(2), { ...view, index: 5 })).toBe(0);
  });

  it('end a program only after a yes', () => {
    const asked = type(table, 'down', 'k');
    expect(asked.action).toBeUndefined();
    expect(press(asked.view, { name: 'y', text: 'y' }, rows, 2).action).toMatchObject({ type: 'end', program: { id: 'b' } }); // prettier-ignore
    for (const name of ['n', 'return', 'escape', 'k'])
      expect(press(asked.view, { name, text: name }, rows, 2)).toMatchObject({ view: { ending: undefined } });
    expect(press(asked.view, { name: 'return', text: '' }, rows, 2).action).toBeUndefined();
  });

  it('filter by words and fields, typed or dropped', () => {
    const typed = type(table, '/', ...Array.from('tenant:acme a state:wait b state:idle')).view;
    expect(wishOf(typed).choice).toEqual({});
    expect(wishOf(type(typed, 'return').view).choice).toEqual({
      tenant: 'acme',
      state: 'idle',
      text: 'a state:wait b',
    });
    readProgramQuery(new URLSearchParams(wishOf(type(typed, 'return').view).choice));
    expect(type(typed, 'backspace', 'ctrl-u', 'return').view).toMatchObject({ filter: '', typing: undefined });
    expect(type(typed, 'escape').view).toMatchObject({ filter: '', typing: undefined });
    expect(press(typed, { name: 'x', text: '\u001B' }, rows, 2).view.filter).toBe(typed.filter);
    expect(type(typed, 'q').action).toBeUndefined();
  });

  it('sort by every column in turn, and reverse', () => {
    let { view } = type(table);
    const seen = SORT_KEYS.map(() => (view = type(view, 'right').view).sort);
    expect(new Set(seen)).toEqual(new Set(SORT_KEYS));
    expect(wishOf(type(table, 'r').view).sort).toBe('waiting_seconds');
    for (const key of SORT_KEYS) readProgramQuery(new URLSearchParams({ sort: `-${key}` }));
  });

  it('open, freeze and leave', () => {
    const opened = type(table, 'down', 'return').view;
    expect(wishOf(opened).open).toBe('default:b');
    expect(type(opened, 'down', 'q').view).toMatchObject({ screen: 'table', scroll: 0, selected: 'default:b' });
    expect(type(table, 'space')).toMatchObject({ view: { frozen: true } });
    expect(type(table, 'space', 'f').action).toEqual({ type: 'read' });
    expect(type(table, 'q').action).toEqual({ type: 'quit' });
    expect(type(opened, 'ctrl-c').action).toEqual({ type: 'quit' });
    for (const key of ['h', '?', 'f1']) {
      expect(type(table, key).view.screen).toBe('help');
      expect(type(table, key, 'down', key).view).toMatchObject({ screen: 'table', scroll: 0 });
      expect(type(opened, key).view.screen).toBe('program');
    }
  });
});

describe('maitred top', () => {
  async function top(...args: string[]) {
    let out = '';
    let err = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
    vi.stubEnv('TOP_TOKEN', 'very-secret');
    try {
      const code = await main(['node', 'maitred', 'top', ...args]);
      return { code, out, err };
    } finally {
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
    }
  }
  const refusing = (status: number, headers: Record<string, string>, text = '') =>
    serve((request, response) => response.writeHead(status, headers).end(text.replace('KEY', String(request.headers.authorization)))); // prettier-ignore

  it.each([
    ['without the token', 401, { 'x-maitred-reason': 'unauthorized' }, /--token/],
    ['at a port for clients', 404, { 'x-maitred-reason': 'unknown_path' }, /admin\.port/],
    ['at another server', 200, {}, /not as a maitred gateway/],
    ['after a redirect', 302, { location: 'http://127.0.0.1:1/' }, /not as a maitred gateway/],
    ['at something broken', 200, { 'x-maitred-reason': 'admin' }, /JSON/],
    ['at a hostile server', 500, { 'x-maitred-reason': 'internal' }, /500: \uFFFD\[2J Bearer \[token\]/],
  ])('%s says what to do, and exits 1', async (_, status, headers, message) => {
    const url = await refusing(status, headers, '\u001B[2J KEY');
    const { code, out, err } = await top('--url', url, ...(status === 500 ? ['--token', 'TOP_TOKEN'] : []));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toMatch(/very-secret|[^\P{Cc}\n]/u);
  });

  it('prints JSON, with the token of a variable, of the programs that match', async () => {
    const url = await serve((request, response) => {
      response.setHeader('x-maitred-reason', 'admin');
      if (request.headers.authorization !== 'Bearer very-secret') response.writeHead(401).end();
      else if (request.url === '/engines') response.end(JSON.stringify({ engines: [engine('gpu-1', { extra: 1 })] }));
      else if (request.url === '/queue') response.end('{"waiting":0}');
      else {
        const { searchParams } = new URL(request.url ?? '', 'http://any');
        expect(Object.fromEntries(searchParams)).toEqual({ sort: '-current_wait_seconds', limit: '100', text: 'B' });
        response.end(JSON.stringify({ programs: [program('b')], total: 1, limit: 100, offset: 0 }));
      }
    });
    const { code, out } = await top('--url', `${url}/v1/`, '--token', 'TOP_TOKEN', '--json', '--filter', 'B');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ url, engines: [{ id: 'gpu-1', extra: 1 }], queue: { waiting: 0 }, programs: [{ id: 'b' }], total: 1 }); // prettier-ignore
  });

  it.each([
    ['--url ftp://x'],
    ['--url http://u:p@x'],
    ['--token NOT_SET'],
    ['--token no-name'],
    ['--sort size'],
    ['--limit 0'],
  ])('%s is wrong usage', async (line) => {
    const { code, err } = await top('--once', ...line.split(' '));
    expect(code).toBe(2);
    expect(err).toMatch(/^maitred: .*\n$/);
  });
});
