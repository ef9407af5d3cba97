import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { programLine } from '../../workloads/index.js';
import { ask, until, world } from '../sidecar/gateway/world.js';
import { engine } from '../sim/client.js';
import { itRefuses, run } from '../support/command-line.js';
import { fileOf, folderOf } from '../support/folder.js';
import { chain, front } from '../support/load.js';
import { serve } from '../support/serve.js';
import { Maitred } from '../support/maitred.js';

const CHAT = ['--workload', 'chat', '--rate', '500', '--programs', '4', '--speed', '100', '--no-baseline'];

/** Runs `maitred load` as it is installed. */
async function load(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const maitred = new Maitred(['load', ...args], env);
  const code = await maitred.ended;
  return { code, out: maitred.stdout, errors: maitred.stderr };
}

/** The same in this process, for what ends before a run begins. */
const refused = (...args: readonly string[]) => run(['load', ...args]);

interface Document {
  readonly version: number;
  readonly complete: boolean;
  readonly targets: readonly { readonly programs: number; readonly calls: number; readonly failed: number }[];
  readonly ab: object | null;
}

describe('maitred load', () => {
  it('measures programs, and says whether they were as fast as they must be', async () => {
    const { url } = await engine();
    const json = join(folderOf({}), 'load.json');
    const met = await load(['--target', url, ...CHAT, '--json', json, '--slo', 'program_seconds.p99 < 600']);
    expect(met.code).toBe(0);
    expect(met.out).toMatch(/^SLO program_seconds\.p99 < 600: met \([\d.]+\)\.$/m);
    const document = JSON.parse(readFileSync(json, 'utf8')) as Document;
    expect(document).toMatchObject({ version: 1, complete: true, targets: [{ programs: 4, failed: 0 }], ab: null });
    const missed = await load(['--target', url, ...CHAT, '--quiet', '--slo', 'program_seconds.p99 < 0']);
    expect(missed.code).toBe(1);
    expect(missed.errors.split('\n').filter((line) => line !== '')).toHaveLength(1);
  });

  it('is one program of a gateway before the run, which has ended', async () => {
    const { url, adminUrl } = await world([await engine()]);
    expect(
      (
        await load([
          '--target',
          url,
          ...CHAT.filter((flag) => flag !== '--no-baseline'),
          '--identity',
          'maitred',
          '--quiet',
        ])
      ).code,
    ).toBe(0);
    await until(async () =>
      (await ask(`${adminUrl}/metrics`)).text.includes('maitred_programs_ended_total{cause="ended"} 5'),
    );
    expect((await ask(`${adminUrl}/programs`)).json()).toMatchObject({ total: 0 });
  });

  it('compares two targets, over a trace in a file', async () => {
    const [one, other] = [await engine(), await engine()];
    const trace = fileOf('trace.jsonl', ['a', 'b', 'c'].map((id) => `${programLine(chain(id, 2))}\n`).join(''));
    const args = ['--target', one.url, '--target', `${other.url}/v1/`, '--trace', trace, '--concurrency', '2'];
    const slo = ['--slo', 'completed < 0'];
    const { code, out, errors } = await load([
      ...args,
      ...slo,
      '--api',
      'responses',
      '--identity',
      'codex',
      '--quiet',
      '--json',
      '-',
    ]);
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/: missed SLO completed < 0 of A, SLO completed < 0 of B\n$/),
    ]);
    const document = JSON.parse(out) as Document;
    expect(document.targets).toMatchObject([
      { programs: 9, calls: 18 },
      { programs: 9, calls: 18 },
    ]);
    expect(document.ab).toMatchObject({ runs: 3, pairs: 9, program_seconds: { mean: { pairs: 3 } } });
  });

  it('tries several loads, with a verdict for each, and texts of its own', async () => {
    const [one, other] = [await engine(), await engine()];
    const args = [
      '--target',
      one.url,
      '--target',
      other.url,
      ...CHAT.slice(0, -1),
      '--rate',
      '900',
      '--repeat',
      '1',
      '--quiet',
    ];
    const { code, out, errors } = await load([...args, '--json', '-']);
    expect(code).toBe(0);
    expect(errors.split('\n').filter((line) => line.startsWith('At '))).toEqual([
      expect.stringMatching(
        /^At 500 a second, B: programs .* A \([\d.]+, one run.*\), slowest [\d.]+; first token .*\.$/,
      ),
      expect.stringMatching(/^At 900 a second, B: programs /),
    ]);
    const first = { settings: { rate_per_second: 500 }, targets: [{ programs: 4 }, { programs: 4 }] };
    const document = JSON.parse(out) as { loads: readonly { targets: readonly { alone_seconds: number }[] }[] };
    expect(document).toMatchObject({ complete: true, loads: [first, { settings: { rate_per_second: 900 } }] });
    // Of the same programs, by one measurement.
    const alone = document.loads.flatMap(({ targets }) => targets.map((each) => each.alone_seconds.toFixed(6)));
    expect(new Set(alone).size).toBe(1);
  });

  it('compares two documents by their files, and refuses what is none', async () => {
    const { url } = await engine();
    const folder = folderOf({});
    const [one, other] = ['one.json', 'other.json'].map((name) => join(folder, name)) as [string, string];
    const run = ['--target', url, ...CHAT, '--repeat', '2', '--quiet', '--json', one];
    expect((await load(run)).code).toBe(0);
    copyFileSync(one, other);
    expect(JSON.parse(readFileSync(one, 'utf8'))).toMatchObject({ targets: [{ name: 'A', by_run: [{}, {}] }] });
    const { code, out } = await load(['compare', one, other]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\S+\/other\.json: programs.* \S+\/one\.json/)]);
    const made = JSON.parse(readFileSync(one, 'utf8')) as Document & { readonly settings: object };
    const sweep = (targets: readonly object[]) =>
      fileOf(
        'sweep.json',
        JSON.stringify({
          version: 1,
          complete: true,
          loads: [500, 900].map((rate) => ({
            ...made,
            targets,
            settings: { ...made.settings, rate_per_second: rate },
          })),
        }),
      );
    const whole = sweep(made.targets);
    expect((await load(['compare', whole, whole])).out).toMatch(
      /^At 500 a second, \S+sweep\.json: programs .*\nAt 900 a second, \S+sweep\.json: programs .*\n.*\n/,
    );
    const lost = sweep(made.targets.map((each) => ({ ...each, failed: 3 })));
    expect(await load(['compare', whole, lost])).toMatchObject({
      code: 1,
      out: expect.stringContaining('not comparable: 3 of 8 programs failed at') as string,
      errors: expect.stringContaining('nothing could be compared') as string,
    });
    for (const [told, ...line] of [
      // A file may have the name of a command.
      ['no such file', 'compare', 'compare', one],
      ['is not valid JSON', 'compare', one, fileOf('x.json', '{')],
      ['--seed stands before', '--seed', '1', 'compare', one, other],
      ['did you mean compare?', 'compar', one, other],
    ] as const)
      expect(await refused(...line)).toMatchObject({ code: 2, errors: [expect.stringContaining(told)] });
  });

  it('takes the key from the environment, and shows it nowhere', async () => {
    const { url } = await engine({ apiKey: 'very-secret' });
    const args = ['--target', url, ...CHAT, '--key', 'LOAD_KEY', '--json', '-'];
    const { code, out, errors } = await load(args, { LOAD_KEY: 'very-secret' });
    expect(code).toBe(0);
    expect(out + errors).not.toContain('very-secret');
    expect((await load(args, { LOAD_KEY: 'other' })).code).toBe(2);
  });

  it('shows neither the key nor what a terminal would obey, where a target says both', async () => {
    const url = await serve(({ headers: { authorization } }, response) =>
      response.writeHead(500).end(JSON.stringify({ error: { message: `\u001b[2J\u009b no: ${authorization}` } })),
    );
    const args = ['--target', url, ...CHAT, '--model', 'm', '--key', 'LOAD_KEY'];
    const { code, out, errors } = await load(args, { LOAD_KEY: 'very-secret' });
    expect(code).toBe(2);
    expect(errors).toContain('no: Bearer');
    expect(out + errors).not.toMatch(/very-secret|[^\P{Cc}\n]/u);
  });

  it('needs to know when programs arrive', async () => {
    const { url } = await engine();
    const few = ['--target', url, '--workload', 'chat', '--programs', '2'];
    expect(await refused(...few)).toMatchObject({ code: 2, errors: [expect.stringContaining('--concurrency 8')] });
    const args = [...few, '--concurrency', '1', '--speed', '100', '--no-baseline'];
    const { code, out } = await load([...args, '--identity', 'NONE', '--quiet', '--json']);
    expect(code).toBe(0);
    expect((await load(args)).out).toContain('100 times as fast as real (all figures are those at real speed)');
    expect(JSON.parse(out)).toMatchObject({
      settings: { arrivals: 'closed', concurrency: 1, identity: 'none', speed: 100 },
      targets: [{ completed: 2 }],
    });
  });

  it('starts programs for the duration at real speed', async () => {
    const { url } = await engine();
    const args = ['--workload', 'chat', '--rate', '2', '--duration', '10s', '--speed', '100', '--no-baseline'];
    const { out } = await load(['--target', url, ...args, '--quiet', '--json', '-']);
    const [target] = (JSON.parse(out) as Document).targets;
    expect(target?.programs).toBeGreaterThan(5);
    expect(target?.programs).toBeLessThan(60);
  });

  it('ends with the report so far at a signal', async () => {
    const handle = await engine({ speed: 50 });
    const endless = ['--workload', 'chat', '--concurrency', '4', '--speed', '100', '--duration', '1h'];
    const maitred = new Maitred(['load', '--target', handle.url, ...endless, '--no-baseline', '--json', '-']);
    await expect.poll(() => handle.stats().requests).toBeGreaterThan(60);
    maitred.kill('SIGINT');
    expect(await maitred.ended).toBe(130);
    expect(JSON.parse(maitred.stdout)).toMatchObject({ complete: false });
  });

  it('fails where a program has failed, unless an objective allows that', async () => {
    let unlucky: unknown;
    const url = await front(await engine(), (_path, _body, { 'x-maitred-program': program }) => {
      unlucky ??= program;
      return program !== undefined && program === unlucky ? { status: 400, text: '' } : undefined;
    });
    for (const [code, ...slo] of [
      [1],
      [1, '--slo', 'calls_failed <= 9'],
      [0, '--slo', 'A.failed <= 1'],
      [1, '--slo', 'failed <= 0'],
    ] as const) {
      unlucky = undefined;
      const ended = await load(['--target', url, ...CHAT, '--identity', 'maitred', '--quiet', ...slo]);
      expect([slo, ended.code]).toEqual([slo, code]);
      expect(ended.errors.trim().split('\n').at(-1)).toMatch(
        code === 0 ? /^$/ : slo[1] === 'failed <= 0' ? /missed/ : /: 1 of 4 programs failed at/,
      );
    }
  });

  it('fails where no program could be completed, whatever an objective allows', async () => {
    const url = await front(await engine(), (_path, _body, { 'x-maitred-program': program }) =>
      program === undefined ? undefined : { status: 503, text: '' },
    );
    const args = ['--target', url, ...CHAT, '--identity', 'maitred', '--quiet', '--json', '-', '--slo', 'failed <= 9'];
    const { code, out, errors } = await load(args);
    expect(code).toBe(1);
    expect(errors).toMatch(/4 of 4 programs failed at http:[^ ]*\n$/);
    expect(JSON.parse(out)).toMatchObject({ complete: true, targets: [{ failed: 4, errors: { http_503: 4 } }] });
  });
});

describe('a wrong command line', () => {
  const HERE = '--target http://127.0.0.1:1 --workload chat';
  const FLAGS = `--concurrency 2; --trace x.jsonl; --api chats; --identity clade-code; --duration 0; --duration soon;
    --speed 0; --trace-speed 2; --recorded-answers; --connections 0; --seed -1; --slo program_seconds.p98<1;
    --json no-such-folder/load.json; --key NO_SUCH_VARIABLE_HERE; --target http://127.0.0.1:2 --target http://127.0.0.1:3`;
  itRefuses(refused, [
    '--workload chat --rate 1',
    '--target http://127.0.0.1:1 --rate 1',
    `${HERE} --rate 1,1`,
    `${HERE} --rate 2..1`,
    ...FLAGS.split(/;\s+/).map((flags) => `${HERE} --rate 1 ${flags}`),
    '--target http://127.0.0.1:1 --workload chatt --rate 1',
    '--target http://127.0.0.1:1 --trace no-such-file.jsonl --rate 1',
    '--target http://8.8.8.8 --workload chat --rate 1',
    '--target nonsense --workload chat --rate 1',
  ]);

  it('never shows a key', async () => {
    const { code, err } = await refused(...HERE.split(' '), '--rate', '1', '--key', 'sk-very-secret');
    expect([code, err]).toEqual([2, expect.not.stringContaining('very-secret')]);
  });

  it('is told as a target that is not there is: nothing was measured, of several loads as well', async () => {
    const { code, errors } = await refused(...HERE.split(' '), '--rate', '1,2');
    expect([code, errors.at(-1)]).toEqual([2, expect.stringMatching(/cannot be reached: connection refused$/)]);
  });
});
