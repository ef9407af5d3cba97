import { describe, expect, it } from 'vitest';
import { fileOf } from '../../support/folder.js';
import { BINARY, serveTwo } from '../../support/maitred.js';
import { widthOf } from '../../../cli/text.js';
import { lackOf, Terminal, type TerminalOptions } from './terminal.js';

const TOP = `${process.execPath} ${BINARY} top`;
const gateway = (port?: string, env?: Readonly<Record<string, string>>) => serveTwo({ speed: 1 }, port, env);

const call = (url: string, program: string, maxTokens = 20) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-maitred-program': program },
    body: JSON.stringify({
      model: 'llama-3.1-8b',
      max_tokens: maxTokens,
      ignore_eos: true,
      messages: [{ role: 'user', content: program }],
    }),
  }).then(async (answer) => {
    expect(answer.status, await answer.text()).toBe(200);
  });

async function open(url: string, options: TerminalOptions = {}, flags = '') {
  const terminal = new Terminal(options);
  terminal.run(`${TOP} --url ${url} --interval 200ms ${flags}`);
  await terminal.shows(/^PROGRAM +STATE/m);
  return terminal;
}

const program = (lines: readonly string[]) =>
  lines.filter((line) => /^(?!127\.|q quit)\S.* (running|run\+wait|waiting|idle) /.test(line));

describe.skipIf(lackOf('tmux') !== undefined)('maitred top in a terminal (needs tmux)', () => {
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
    terminal.press('Enter');
    const [, id] = /Its last call, (\S+)/.exec((await terminal.shows(/"before" is idle/)).join(' ')) ?? [];
    await call(url, 'before');
    await terminal.shows(new RegExp(`Its last call, (?!${id})`));
    first.kill('SIGKILL');
    await first.ended;
    await terminal.shows(/Its last call, [^]*\nany key: back to the table; no answer since [\d:]{8}$/m);
    terminal.press('q');
    const lines = await terminal.shows(/^No answer since [\d:]{8}, so [^]* cannot be reached/m);
    expect(lines.join('\n')).toContain('before');
    await gateway(new URL(url).port);
    await terminal.shows(/: 0 programs/);
  });

  it('says what helps where something is wrong, above the table', async () => {
    const { url } = await gateway();
    await Promise.all(Array.from({ length: 9 }, (_, at) => call(url, `p${at}`)));
    const terminal = await open(url, { rows: 13 });
    terminal.press('End');
    await terminal.shows(/shown 2 to 9/);
    const { engines } = (await (await fetch(`${url}/engines`)).json()) as { engines: { id: string }[] };
    for (const { id } of engines) await fetch(`${url}/engines/${id}/drain?force`, { method: 'POST' });
    const lines = await terminal.shows(/0 of 2 engines up[^]*\shelps: [^]*\sundrain/);
    expect(program(lines).length).toBeLessThan(8);
    await terminal.shows(/to 9\./);
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
    const terminal = await open(url, { rows: 15 });
    const first = await terminal.shows(/30 programs, shown 1 to 10\./);
    expect(first[14]).toMatch(/^q quit  ↑↓ row  Enter why  s S sort  r reverse  \/ filter  \? help$/);
    terminal.press('Down');
    terminal.press('NPage');
    await terminal.shows(/shown 3 to 12\./);
    terminal.press('PPage', 'PPage');
    await terminal.shows(/shown 1 to 10\./);
    terminal.press('End');
    expect(program(await terminal.shows(/shown 21 to 30\./))).toHaveLength(10);
    terminal.press('NPage', 'Home');
    await terminal.shows(/shown 1 to 10\./);
    terminal.press('s');
    await terminal.shows(/▾LVL/);
    terminal.press('S', 'S');
    await terminal.shows(/▾AGE/);
    terminal.press('s', 's', 'r');
    await terminal.shows(/▴LVL/);
    terminal.press('r');
    await terminal.shows(/▾LVL/);
    terminal.press('Enter');
    expect((await terminal.shows(/any key: back/)).join(' ')).toMatch(/Program "p\d+" is idle/);
    terminal.press('q');
    await terminal.shows(/▾LVL/);
    terminal.press('?');
    await terminal.shows(/\/ filter[^]*WAITS +the longest wait/);
    terminal.press('Escape');
    await terminal.shows(/▾LVL/);
    terminal.type('/x');
    terminal.press('C-u');
    terminal.type('p1 old');
    terminal.press('C-w');
    terminal.press('BSpace');
    await terminal.shows(/^filter: p1_ /m);
    terminal.press('Enter');
    await terminal.shows(/ 11 programs with p1, shown 1 to 10\./);
    terminal.type('/ tenent:x');
    terminal.press('Enter');
    await terminal.shows(/^filter: p1 tenent:x_ .*tenant:NAME/m);
    terminal.press('Escape');
    await terminal.shows(/with p1, [^]*\? help/);
    terminal.press('C-c');
    await isRestored(terminal);
  });
});

async function isRestored(terminal: Terminal): Promise<void> {
  await terminal.shows(/ready>\s*$/);
  expect(terminal.modes).toEqual({ alternate: false, cursor: true });
  terminal.run('clear; stty -a | grep -ow -e -icanon -e -echo; echo checked');
  expect((await terminal.shows(/^checked/m)).join('\n')).not.toMatch(/^-(icanon|echo)/m);
}
