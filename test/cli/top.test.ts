import { describe, expect, it } from 'vitest';
import { fitted, printable, shortened, widthOf } from '../../cli/text.js';
import { SORT_KEYS } from '../../cli/top/columns.js';
import { countText, timeText } from '../../cli/top/figures.js';
import { frame, headLinesOf } from '../../cli/top/frame.js';
import { edited } from '../../cli/top/live.js';
import { readSnapshot, type Snapshot } from '../../cli/top/snapshot.js';
import { readProgramQuery } from '../../sidecar/admin/query.js';
import { AdminClient } from '../../cli/admin.js';
import { itRefuses, run } from '../support/command-line.js';
import { serve } from '../support/serve.js';
import { world } from '../sidecar/gateway/world.js';

const HOSTILE = 'a\u001B[2J\n\u202Eevil\u0000漢字👩\u200D💻é\u0301\u0301\u0301\u0301';
const STATUS = { parts: [{ level: 'good', about: 'engines', text: `2 engines up. ${HOSTILE}` }] };
const GATEWAY = { policy: 'plas', demo_programs: { ended: 14, total: 80 }, status: STATUS };

const program = (id: string, more: object = {}) => ({ id, tenant: 'default', ...more });

/** As `top` reads it from a gateway that answers this. */
async function snapshotOf(programs: readonly object[], total = programs.length, more = {}): Promise<Snapshot> {
  const answers: Record<string, unknown> = { '/gateway': GATEWAY, ...more };
  const url = await serve((request, response) => {
    response.setHeader('x-maitred-reason', 'admin');
    response.end(JSON.stringify(answers[request.url ?? ''] ?? { programs, total, offset: 10 }));
  });
  return readSnapshot(new AdminClient(url), { sort: 'level', filter: '', offset: 10, limit: 100 });
}

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

  it('is cut before its end, where names that begin alike differ', () => {
    expect(shortened('batch_e080e2b30ddc119b/line-12', 23)).toBe('batch_e080e2b3…/line-12');
    expect(shortened('127.0.0.1:8141', 12)).toBe('127.0.…:8141');
    expect(shortened('漢字漢字漢字', 8)).toBe('漢字…字');
    expect(shortened('ab', 2)).toBe('ab');
    for (const width of [1, 2, 3]) expect(widthOf(shortened('abcdef', width))).toBe(width);
  });
});

it('figures take at most six columns', () => {
  expect([0, 9.96, 10, 60, 3599, 3600, 90_000, 9e6, 1e12].map(timeText)).toEqual([
    '0.0s',
    '9.9s',
    '10s',
    '1m00',
    '59m59',
    '1h00',
    '1d1h',
    '104d',
    '11.6Md',
  ]);
  expect([0, 999, 999.9, 1000, 99_950, 999_600, 1e15].map(countText)).toEqual([
    '0',
    '999',
    '1K',
    '1K',
    '100K',
    '1M',
    '1000T',
  ]);
});

it('the filter is edited as a line of a shell is', () => {
  const words = 'tenant:a  béta ';
  expect(['ctrl-u', 'ctrl-w', 'backspace', 'ctrl-k'].map((key) => edited(words, '\u0015', key))).toEqual([
    '',
    'tenant:a  ',
    words.trimEnd(),
    words,
  ]);
  expect([edited('', '\u0017', 'ctrl-w'), edited('a', 'u', 'u')]).toEqual(['', 'au']);
});

describe('a frame', () => {
  const SCENE = { url: 'http://gateway:8080', sort: '-waiting_seconds' };

  it('fits every width, and holds nothing that a terminal obeys', async () => {
    const hostile = program(HOSTILE, { engine: HOSTILE, tenant: HOSTILE });
    const rows = [program('first'), hostile, program('x'.repeat(10_000))];
    for (const snapshot of [await snapshotOf(rows), await snapshotOf([])])
      for (const fault of [undefined, '漢'.repeat(500)])
        for (const width of [40, 41, 80, 200])
          for (const line of frame({ ...SCENE, snapshot, fault }, width)) {
            expect(line).toMatch(/^[^\p{Cc}\u202E]*$/u);
            expect(widthOf(line), `${width} ${line}`).toBe(width);
          }
  });

  it('tells the gateway in its own words, in as many lines as it is given', async () => {
    const snapshot = await snapshotOf([program('a'), program('b')], 345);
    const wide = frame({ ...SCENE, snapshot }, 200)
      .slice(0, 3)
      .map((line) => line.trim());
    expect(wide).toEqual([
      'gateway:8080: 345 programs, shown 11 to 12. Policy plas.',
      expect.stringMatching(/^2 engines up\. ./),
      'Demo: 14 of 80 ended.',
    ]);
    const [one, two] = frame({ ...SCENE, snapshot }, 40, 2);
    expect([one, two]).toEqual([
      'gateway:8080: 345 programs, shown 11 to ',
      expect.stringMatching(/^12\. Policy plas\. 2 engines up\. .*…$/),
    ]);
    const [short, blank] = frame({ ...SCENE, snapshot: await snapshotOf([], 0, { '/gateway': {} }) }, 40, 2);
    expect([short?.trimEnd(), blank?.trim()]).toEqual(['gateway:8080: 0 programs.', '']);
  });

  it('tells what is wrong and what helps in up to a third of the screen, then all else', async () => {
    const parts = [
      { level: 'bad', text: 'gpu-2 has been down for 9.5 s (connection refused).' },
      { level: 'warn', text: '5 calls wait for an engine.' },
      { level: 'warn', about: 'failures', text: '7 of 99 calls failed.' },
      { level: 'good', text: '1 of 2 engines up.' },
    ];
    const scene = async (status: object) => ({
      ...SCENE,
      snapshot: await snapshotOf([program('a')], 345, { '/gateway': { status, policy: 'plas' } }),
    });
    const wrong = await scene({ level: 'bad', parts, helps: 'What helps: start gpu-2.' });
    expect(
      frame(wrong, 80, 5)
        .slice(0, 5)
        .map((line) => line.trim()),
    ).toEqual([
      'gateway:8080: 345 programs, shown 11 to 11. Policy plas.',
      'gpu-2 has been down for 9.5 s (connection refused).',
      '5 calls wait for an engine.',
      'What helps: start gpu-2.',
      '7 of 99 calls failed. 1 of 2 engines up.',
    ]);
    expect([40, 9, 8, 3].map((height) => headLinesOf(wrong, 80, height))).toEqual([6, 3, 2, 1]);
  });

  it('shows one row for each program, with its tenant and its gateway if there are several', async () => {
    const waits = { state: 'running', current_wait_seconds: 2, current_wait_cause: 'no_engine', idle_seconds: 9 };
    const [, , titles, row] = frame({ ...SCENE, snapshot: await snapshotOf([program('p', waits)]) }, 80, 2);
    expect(titles).toMatch(/^PROGRAM +STATE +WAITS FOR /);
    expect(row).toMatch(/^p +run\+wait +2\.0s +an engine .* - *$/);
    const late = program('p', {
      state: 'waiting',
      current_wait_seconds: 2,
      current_wait_cause: 'window',
      background: true,
      level: 0,
    });
    expect(frame({ ...SCENE, snapshot: await snapshotOf([late]) }, 80, 2)[3]).toMatch(
      /^p +waiting +2\.0s +window +bg /,
    );
    const hung = program('p', { ...waits, engines_down: ['gpu-1'] });
    expect(frame({ ...SCENE, snapshot: await snapshotOf([hung]) }, 80, 2)[3]).toMatch(/^p +hangs +2\.0s /);
    expect(titles).not.toContain('TENANT');
    expect(titles).not.toContain('GATEWAY');
    const other = program('p', { tenant: 'acme', gateway: 'b' });
    const [all, elsewhere] = frame({ ...SCENE, snapshot: await snapshotOf([other]) }, 200).slice(-2);
    expect([all, elsewhere]).toEqual([expect.stringMatching(/TENANT.*GATEWAY/), expect.stringMatching(/ b +$/)]);
  });

  it('shows what waits in the narrowest terminal, and the engine in a common one', async () => {
    const titles = async (sort: string, width: number, more = {}) => {
      const snapshot = await snapshotOf([program('n'.repeat(23), more)]);
      return frame({ ...SCENE, sort, snapshot }, width, 1)[1]
        ?.trim()
        .split(/ +/);
    };
    expect(await titles('-level', 40)).toEqual(['PROGRAM', 'STATE', 'WAITS', '▾LVL']);
    const common = ['STATE', '▾WAITS', 'FOR', 'LVL'];
    const wide = (more: object) => titles('-current_wait_seconds', 80, more);
    expect(await wide({})).toEqual(['PROGRAM', ...common, 'SERVICE', 'ENGINE']);
    expect(await wide({ tenant: 'acme' })).toEqual(['PROGRAM', 'TENANT', ...common, 'ENGINE']);
  });

  it('always shows the column that it is sorted by, which the gateway can sort by', async () => {
    const snapshot = await snapshotOf([]);
    for (const key of SORT_KEYS) {
      readProgramQuery(new URLSearchParams({ sort: `-${key}` }));
      expect(frame({ ...SCENE, sort: key, snapshot }, 40, 1)[1]).toMatch(/▴[A-Z]/);
      expect(frame({ ...SCENE, sort: `-${key}`, snapshot }, 40, 1)[1]).toMatch(/▾[A-Z]/);
    }
  });
});

describe('maitred top', () => {
  const top = (...args: string[]) => run(['top', ...args], { TOP_TOKEN: 'very-secret' });
  const refusing = (status: number, headers: Record<string, string>, text = '') =>
    serve((request, response) =>
      response.writeHead(status, headers).end(text.replace('KEY', String(request.headers.authorization))),
    );

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

  it('prints the programs that match, with the token of a variable', async () => {
    const url = await serve((request, response) => {
      response.setHeader('x-maitred-reason', 'admin');
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
      if (request.headers.authorization !== 'Bearer very-secret') return response.writeHead(401).end();
      if (pathname === '/gateway') return response.end(JSON.stringify(GATEWAY));
      const chosen = { text: 'B c', tenant: 'acme', state: 'idle' };
      expect(Object.fromEntries(searchParams)).toEqual({
        sort: '-current_wait_seconds',
        limit: '3',
        offset: '0',
        ...chosen,
      });
      return response.end(JSON.stringify({ programs: [program(HOSTILE)], total: 1 }));
    });
    const filter = 'B tenant:acme  state:idle c';
    const sorted = (key: string) =>
      top('--url', `${url}/v1/`, '--token', 'TOP_TOKEN', '--sort', key, '--limit', '3', '--filter', filter);
    expect(await sorted('-current_wait_seconds')).toMatchObject({ code: 0 });
    const { code, out } = await sorted('-Waits');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^127\.0\.0\.1:\d+: 1 program with B tenant:acme {2}state:idle c\. Policy plas\.\n2 engines up\. [^]*\nPROGRAM +STATE .*\n[^\n]+evil[^\n]+\n$/,
    );
    expect(out).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
  });

  it('says that no program matches, and refuses a state that there is not', async () => {
    const { url } = await world([]);
    const filtered = async (filter: string) => top('--url', url, '--filter', filter);
    expect((await filtered('none')).out).toMatch(/0 programs with none\.[^]*\nno program matches\n$/);
    for (const odd of ['sate:active', 'a bogus:1', 'tenant:'])
      expect(await filtered(odd)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/tenant:NAME, engine:ID/) as string,
      });
    const told = expect.stringMatching(/--filter.* one of waiting, ending, running, idle, active\./) as string;
    expect(await filtered('state:foo')).toMatchObject({ code: 2, err: told });
  });

  itRefuses(
    (...args) => top('--once', ...args),
    ['--url ftp://x', '--url http://u:p@x', '--token NOT_SET', '--token no-name', '--sort size', '--limit 0'],
  );
});
