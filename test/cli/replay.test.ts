import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../loadbalancer/index.js';
import { configSchema } from '../../sidecar/config/index.js';
import { settingsSchema } from '../../sidecar/recording/settings.js';
import {
  BEHAVIOUR,
  BEHAVIOUR_CHANGES,
  FIRST_BEHAVIOUR,
  logLine,
  millis,
  Scheduler,
  type Event,
  type LogLine,
} from '../../src/index.js';
import { arrived, finished, joined } from '../support/core-events.js';
import { run } from '../support/command-line.js';
import { fileOf, folderOf } from '../support/folder.js';
import { Maitred } from '../support/maitred.js';

const replay = (...args: readonly string[]) => run(['replay', ...args]);

/** The lines of a log of so many calls of three programs, on an engine that takes two at a time. */
function logOf(calls: number): string[] {
  const settings = settingsSchema.parse(configSchema.parse({ policy: { name: 'plas' }, admission: { window: 2 } }));
  const scheduler = new Scheduler(settings, makeBalancer(settings.balancer));
  const versions = { maitredEventLog: 1, maitred: '0.1.0', behaviour: BEHAVIOUR } as const;
  const lines: LogLine[] = [{ ...versions, startedAt: '2026-01-01T00:00:00.000Z', now: millis(0), settings }];
  let at = 0;
  const tell = (event: Event) => {
    const now = millis((at += 10.1));
    lines.push({ now, event, commands: scheduler.step(event, now) });
  };
  tell(joined('engine'));
  for (let call = 0; call < calls; call += 1) {
    tell(arrived(`c${call}`, { program: `p${call % 3}` }));
    if (call > 3) tell(finished(`c${call - 3}`, { prompt: 100, output: 20 }));
  }
  return [...lines, { end: 'closed', steps: lines.length - 1 } as const].map(logLine);
}

const fileWith = (lines: readonly string[]) => fileOf('events.jsonl', lines.map((line) => `${line}\n`).join(''));

const ofBehaviour = (behaviour: number, header: string) =>
  header.replace(/"behaviour":\d+/, `"behaviour":${behaviour}`);
const LOG = logOf(20);
const STEPS = LOG.length - 2;

describe('maitred replay', () => {
  it('finds a log identical', async () => {
    const { code, out, errors } = await replay(fileWith(LOG));
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
    expect(out).toMatch(new RegExp(`^identical: ${STEPS} steps, \\d+ commands\n$`));
    expect(await replay(fileOf('log', gzipSync(LOG.join('\n'))))).toMatchObject({ code: 0, out });
  });

  it('shows the first difference: where, what was recorded, and what is done now', async () => {
    const at = LOG.findIndex((line, index) => index > 20 && line.includes('"level":0'));
    const lines = LOG.with(at, LOG[at]!.replace('"level":0', '"level":7')).with(-2, '{"broken');
    const { code, out, errors } = await replay(fileWith(lines));
    expect(code).toBe(1);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`line ${at + 1}: `);
    expect(out).toContain(`different, after ${at - 1} steps, `);
    expect(out).toMatch(new RegExp(`^line ${at + 1}: [\\d.]+ \\{"type":"\\w+"`, 'm'));
    expect(out).toMatch(/^commands\.\d+\.level: 7 became 0$/m);
  });

  it.each<[string, (lines: string[]) => string[]]>([
    ['a step that is missing', (lines) => lines.toSpliced(6, 1)],
    ['a step twice', (lines) => lines.toSpliced(6, 0, lines[6]!)],
    ['a command that is missing', (lines) => lines.with(2, lines[2]!.replace(/"commands":.*/, '"commands":[]}'))],
    ['other settings', (lines) => lines.with(0, lines[0]!.replace('"window":2', '"window":1'))],
  ])('finds %s', async (_, change) => {
    const { code, out } = await replay(fileWith(change([...LOG])));
    expect(code).toBe(1);
    expect(out).toMatch(/^different, after \d+ steps?, /);
  });

  it.each<[string, (lines: string[]) => string[], number | null, string]>([
    ['a line that is no JSON', (lines) => lines.with(8, 'x'), 9, ''],
    ['a line that is malformed', (lines) => lines.with(8, '{"now":1,"event":{"type":"woke"}}'), 9, 'commands'],
    ['a last line that is cut', (lines) => [...lines.slice(0, 8), lines[8]!.slice(0, 30)], 9, ''],
    ['fewer steps than were written', (lines) => lines.with(-1, '{"end":"closed","steps":99}'), LOG.length, 'steps'],
    ['more behind its end', (lines) => [...lines, lines[3]!], LOG.length + 1, ''],
    ['a second header', (lines) => lines.with(8, lines[0]!), 9, 'maitredEventLog'],
    ['no header', (lines) => lines.slice(1), 1, 'maitredEventLog'],
    ['a newer version', (lines) => ['{"maitredEventLog":2}', ...lines], 1, 'maitredEventLog'],
    ['a newer behaviour', (lines) => [ofBehaviour(BEHAVIOUR + 1, lines[0]!), ...lines.slice(1)], 1, 'behaviour'],
    ['no behaviour', (lines) => [ofBehaviour(0, lines[0]!), ...lines.slice(1)], 1, 'behaviour'],
    ['no known policy', (lines) => lines.with(0, lines[0]!.replace('"plas"', '"x"')), 1, 'settings.policy.name'],
    ['nothing', () => [], null, ''],
  ])('tells of %s where it is, after what is before it', async (_, change, line, field) => {
    const { code, out, errors } = await replay(fileWith(change([...LOG])));
    expect(code).toBe(1);
    expect(errors).toEqual([
      expect.stringContaining(line === null ? 'nothing in it' : `, line ${line}${field && `, ${field}`}: `),
    ]);
    const steps = Math.min(STEPS, (line ?? 0) - 2);
    expect(out).toMatch(steps < 0 ? /^$/ : new RegExp(`^identical as far as it can be read: ${steps} steps?, `));
  });

  it('replays a log without an end to its last line, and one of an archive that is cut', async () => {
    const whole = await replay(fileWith(LOG.slice(0, 20)));
    expect(whole).toMatchObject({ code: 0, errors: [expect.any(String)] });
    expect(whole.out).toContain('19 steps');
    const packed = gzipSync(logOf(5000).join('\n'));
    const cut = await replay(fileOf('log.gz', packed.subarray(0, packed.length / 2)));
    expect(cut).toMatchObject({ code: 1, errors: [expect.any(String)] });
    expect(cut.out).toMatch(/\d,\d{3} steps/);
  });

  it('names the changes since an older log was recorded, if it differs', async () => {
    const old = LOG.with(0, ofBehaviour(FIRST_BEHAVIOUR, LOG[0]!));
    expect(await replay(fileWith(old))).toMatchObject({ code: 0, errors: [] });
    const differing = old.with(-2, old.at(-2)!.replace(/"commands":.*/, '"commands":[{"type":"wakeAt","at":1}]}'));
    const { code, out, errors } = await replay(fileWith(differing));
    expect({ code, errors: errors.length }).toEqual({ code: 3, errors: BEHAVIOUR_CHANGES.length + 1 });
    expect(out).toContain(' became ');
  });

  it('refuses a file that is not there', async () => {
    expect((await replay(join(folderOf({}), 'none'))).code).toBe(2);
  });
});

describe('maitred serve --record', () => {
  it('writes a log, reloads and all, that is replayed as identical', async () => {
    const folder = folderOf({ 'maitred.yaml': 'listen: {port: 0}\nembedded: 1\n' });
    const [config, log] = [join(folder, 'maitred.yaml'), join(folder, 'events.jsonl')];
    const maitred = new Maitred(['serve', '--config', config, '--record', log]);
    const url = await maitred.url();
    const messages = [{ role: 'user', content: 'words of mine' }];
    const body = JSON.stringify({ model: 'llama-3.1-8b', messages, max_tokens: 2 });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const chat = async () => (await fetch(`${url}/v1/chat/completions`, init)).text();
    await chat();
    writeFileSync(config, 'listen: {port: 0}\nembedded: 1\npolicy: {name: pass-through}\n');
    maitred.kill('SIGHUP');
    await maitred.logged('configuration reloaded');
    await chat();
    maitred.kill('SIGTERM');
    expect(await maitred.ended).toBe(0);
    const text = readFileSync(log, 'utf8');
    expect(text).not.toContain('mine');
    expect(text.split('\n').filter((line) => line.includes('"name":"pass-through"'))).toHaveLength(1);
    expect(text.match(/callFinished/g)).toHaveLength(2);
    expect(await replay(log)).toMatchObject({ code: 0, errors: [] });
  });

  it('refuses a file that holds something', async () => {
    const file = fileOf('events.jsonl', 'precious');
    const maitred = new Maitred(['serve', '--port', '0', '--record', file]);
    expect(await maitred.ended).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });
});
