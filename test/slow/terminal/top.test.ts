import { describe, expect, it, onTestFinished } from 'vitest';
import { fileOf } from '../../support/folder.js';
import { serve } from '../../support/load.js';
import { BINARY, Maitred, serveTwo } from '../../support/maitred.js';
import { widthOf } from '../../../cli/text.js';
import { lackOf, Terminal, type TerminalOptions } from './terminal.js';

const TOP = `${process.execPath} ${BINARY} top`;
/** As a gateway of another make might have it; ours hashes such ids. */
const HOSTILE = 'evil\u202E\u009B31m 漢字👩\u200D💻e\u0301\u0301\u0301';

const gateway = (port?: string, env?: Readonly<Record<string, string>>) => serveTwo({ speed: 1 }, port, env);

const call = (url: string, program: string, maxTokens = 20) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-maitred-program': program },
    body: JSON.stringify({ model: 'llama-3.1-8b', max_tokens: maxTokens, ignore_eos: true, messages: [{ role: 'user', content: program }] }), // prettier-ignore
  }).then(async (answer) => {
    expect(answer.status, await answer.text()).toBe(200);
  });

/** Fifty programs, some of whose calls wait, for as long as the test runs. */
function load(url: string): void {
  const maitred = new Maitred(['load', '--target', url, '--workload', 'react', '--concurrency', '50', '--duration', '5m', '--identity', 'maitred', '--no-baseline', '--quiet']); // prettier-ignore
  onTestFinished(() => maitred.kill('SIGKILL'));
}

async function open(url: string, options: TerminalOptions = {}, flags = '') {
  const terminal = new Terminal(options);
  terminal.run(`${TOP} --url ${url} --interval 200ms ${flags}`);
  await terminal.shows(/^PROGRAM +STATE/m);
  return terminal;
}

const program = (lines: readonly string[]) =>
  lines.filter((line) => /^(?!127\.)\S.* (running|run\+wait|waiting|idle) /.test(line));

describe.skipIf(lackOf('tmux') !== undefined)('maitred top in a terminal (needs tmux)', () => {
  it.each([
    { columns: 80, rows: 24 },
    { columns: 40, rows: 15 },
    { columns: 200, rows: 50 },
  ])('fills $columns by $rows under load', async (size) => {
    const { url } = await gateway();
    load(url);
    const terminal = await open(url, size);
    const lines = await terminal.shows(/ \d\d programs[\s\S]* (running|waiting) /);
    expect(lines.filter((line) => widthOf(line) > size.columns)).toEqual([]);
    expect(program(lines).length).toBeGreaterThan(size.rows / 3);
    if (process.env['TEST_SHOW'] === '1') process.stderr.write(`${lines.join('\n')}\n`);
    terminal.press('q');
    await terminal.shows(/ready>\s*$/);
  });

  it('follows the size of its terminal', async () => {
    const { url } = await gateway();
    await call(url, 'one');
    const terminal = await open(url);
    terminal.resize(140, 40);
    await terminal.shows(/CACHED/);
    terminal.resize(40, 12);
    const lines = await terminal.shows(/^PROGRAM .* {0,9}WAITS/m);
    expect(lines.every((line) => widthOf(line) <= 40)).toBe(true);
    expect(lines.filter((line) => line.startsWith('PROGRAM'))).toHaveLength(1);
  });

  it('says that the gateway is gone, and waits for it', async () => {
    const { maitred: first, url } = await gateway();
    await call(url, 'before');
    const terminal = await open(url);
    await terminal.shows(/before/);
    first.kill('SIGKILL');
    await first.ended;
    const lines = await terminal.shows(/^No answer, trying again: .* refuses connections/m);
    expect(lines.join('\n')).toContain('before');
    await gateway(new URL(url).port);
    await terminal.shows(/ 0 programs/);
  });

  it('needs the token of a gateway that has one, and does not show it', async () => {
    const { url: guarded } = await gateway('0', { MAITRED_ADMIN_TOKEN: 'correct-horse' });
    const terminal = new Terminal({ env: { GOOD_TOKEN: 'correct-horse', BAD_TOKEN: 'wrong' } });
    terminal.run(`${TOP} --url ${guarded}`);
    await terminal.shows(/requires the admin token/);
    terminal.run(`clear; ${TOP} --url ${guarded} --token BAD_TOKEN`);
    await terminal.shows(/refuses the admin token/);
    terminal.run(`clear; ${TOP} --url ${guarded} --token GOOD_TOKEN`);
    await terminal.shows(/no program/);
    expect(terminal.screen().join('\n')).not.toContain('correct-horse');
  });

  it('shows hostile names in their columns', async () => {
    const row = (id: string) => ({ id, tenant: 'default', key: id, state: 'idle', age_seconds: 3600 });
    const answers: Record<string, unknown> = {
      '/engines': { engines: [] },
      '/queue': { waiting: 0, limit: 1, longest_wait_seconds: 0, levels: [] },
      '/gateway': { policy: 'plas' },
    };
    const programs = { programs: [row('plain'), row(HOSTILE), row(HOSTILE.repeat(1000))], total: 3 };
    const url = await serve((request, response) => {
      response.setHeader('x-maitred-reason', 'admin');
      response.end(JSON.stringify(answers[request.url ?? ''] ?? programs));
    });
    const lines = await (await open(url)).shows(/evil[\s\S]*evil/);
    expect(lines.find((line) => line.includes('evil'))).toContain('evil��31m 漢字👩💻e\u0301\u0301 ');
    const rows = program(lines);
    expect(rows).toHaveLength(3);
    expect(new Set(rows.map((line) => widthOf(line.slice(0, line.indexOf(' idle '))))).size).toBe(1);
    // The end of the last line too.
    expect(rows.every((line) => / 0\.0s$/.test(line))).toBe(true);
  });

  it('leaves the terminal to the shell at Ctrl-Z, and takes it back', async () => {
    const { url } = await gateway();
    const terminal = await open(url);
    expect(terminal.modes).toEqual({ alternate: true, cursor: false });
    terminal.press('C-z');
    await terminal.shows(/Stopped/);
    expect(terminal.modes).toEqual({ alternate: false, cursor: true });
    terminal.run('fg');
    await terminal.shows(/programs[\s\S]*PROGRAM/);
    expect(terminal.modes).toEqual({ alternate: true, cursor: false });
    terminal.press('q');
    await terminal.shows(/ready>\s*$/);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('restores the terminal at %s', async (signal) => {
    const { url } = await gateway();
    const terminal = await open(url);
    process.kill(terminal.pid, signal);
    await isRestored(terminal);
  });

  it('restores the terminal after a fault of its own, whose message stays', async () => {
    const { url } = await gateway();
    const fault = fileOf('fault.cjs', "setTimeout(() => { throw new Error('a fault of ours'); }, 3000);");
    const terminal = new Terminal();
    terminal.run(`NODE_OPTIONS="--require ${fault}" ${TOP} --url ${url}`);
    await terminal.shows(/a fault of ours/);
    await isRestored(terminal);
  });

  it('scrolls by rows and pages, within the table', async () => {
    const { url } = await gateway();
    await Promise.all(Array.from({ length: 30 }, (_, at) => call(url, `p${at}`)));
    const terminal = await open(url, { rows: 12 });
    await terminal.shows(/30 programs {2}shown 1 to 10 /);
    terminal.press('Down');
    await terminal.shows(/shown 2 to 11 /);
    terminal.press('PPage');
    await terminal.shows(/shown 1 to 10 /);
    terminal.press('End');
    expect(program(await terminal.shows(/shown 21 to 30 /))).toHaveLength(10);
    terminal.press('NPage', 'Home');
    await terminal.shows(/shown 1 to 10 /);
    terminal.press('C-c');
    await isRestored(terminal);
  });

  it('prints one plain snapshot into a pipe', async () => {
    const { url } = await gateway();
    await call(url, 'one');
    const maitred = new Maitred(['top', '--url', url]);
    expect(await maitred.ended).toBe(0);
    expect(maitred.stdout).toMatch(/^127[.\d:]+ {2}1 program .*\nPROGRAM +STATE.*\none +idle/);
    expect(maitred.stdout).not.toMatch(/[^\P{Cc}\n]/u);
  });
});

async function isRestored(terminal: Terminal): Promise<void> {
  await terminal.shows(/ready>\s*$/);
  expect(terminal.modes).toEqual({ alternate: false, cursor: true });
  terminal.run('clear; stty -a | grep -ow -e -icanon -e -echo; echo checked');
  expect((await terminal.shows(/^checked/m)).join('\n')).not.toMatch(/^-(icanon|echo)/m);
}
