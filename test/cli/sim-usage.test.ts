import { describe, expect, it } from 'vitest';
import { itHelps, itRefuses, itSuggests } from '../support/command-line.js';
import { fileOf } from '../support/folder.js';
import { sim } from '../support/sim-command.js';

describe('maitred sim with wrong usage', () => {
  itSuggests(sim, [
    ['--workload mixd --rate 1', 'mixed'],
    ['--workload mixed --rate 1 --policy plas,pass-throug', 'pass-through'],
    ['--workload mixed --rate 1 --balancer stiky', 'sticky'],
    ['--workload mixed --rate 1 --preset tiny-cp', 'tiny-cpu'],
    ['--workload mixed --rte 1', '--rate'],
    ['--workload mixed --rate 1 --window atuo', 'auto'],
  ]);

  itRefuses(sim, [
    '',
    '--rate 1',
    'nonsense',
    'calibrat --out x',
    '--workload mixed',
    '--workload mixed --rate 1 --concurrency 2',
    '--workload mixed --trace a.jsonl --rate 1',
    '--workload examples/programs.jsonl --rate 1',
    '--workload mixed --rate 1 --policy pass-through --window 8,16',
    '--workload mixed --rate 1 --balancer sticky,round-robin',
    '--workload mixed --rate 1 --format weka',
    '--workload mixed --trace-speed 2',
    '--workload mixed --rate 1 --trace-speed 2',
    '--workload mixed --cv 2',
    '--workload mixed --concurrency 2 --cv 2',
    '--workload no-such-file.yaml --rate 1',
    '--workload package.json/a --rate 1',
    '--trace no-such-file --rate 1',
    '--trace package.json/a --rate 1',
    '--workload mixed --rate 1 --config no-such-file',
    '--workload mixed --rate 1 --conditions prod',
    '--workload mixed --rate 1 --retention fifo',
    '--workload mixed --rate 1 --retention saga',
    '--workload mixed --rate 1 --retention belady --policy plas,srpt',
    '--workload mixed --rate 1 --policy plas,plas',
    '--workload mixed --rate 1 --seed 1,1',
    ...['1..', '..2', '2..1', '1..2..3', '1..1.5', '1..4294967295', '1..3,2'].map(
      (seeds) => `--workload mixed --rate 1 --seed ${seeds}`,
    ),
    '--workload mixed --rate 1, --window 8',
    '--workload mixed --rate 1 --gate 0.5,7',
    '--workload mixed --rate 1 --gate 0.1..0.9',
    '--workload mixed --rate 1 --gate 0.9,0.90',
    '--workload mixed --rate 1 --preset tiny-cpu,tiny-cpu',
    '--workload mixed --rate 1 extra',
    ...['0', '-1', 'NaN', 'Infinity', '1e99', 'x'].map((rate) => `--workload mixed --rate ${rate}`),
    ...['0', '-1', '1.5', 'NaN', '1e9'].flatMap((count) =>
      ['--engines', '--programs', '--jobs'].map((flag) => `--workload mixed --rate 1 ${flag} ${count}`),
    ),
    ...['--concurrency 0', '--concurrency 1e9'].map((flag) => `--workload mixed ${flag}`),
    ...['--cv -1', '--cv NaN', '--kv-tokens 0', '--kv-tokens 1e12', '--seed -1', '--seed 1.5', '--seed 4294967296'].map(
      (flag) => `--workload mixed --rate 1 ${flag}`,
    ),
    ...[
      '--rate auto --programs 5',
      '--concurrency auto --programs 5',
      '--rate auto,1',
      '--rate auto --rate 1',
      '--rate auto --engines 1,2',
      '--rate auto --engines auto',
      '--engines auto --concurrency 4',
      '--concurrency auto --policy plas',
    ].map((flags) => `--workload mixed ${flags}`),
    '--workload mixed --rate 1 --window auto --gate 0.1,0.2,0.3,0.4 --engines auto --seed 1..30',
    ...['--window 0', '--window x', '--gate -1', '--gate NaN'].map((flag) => `--workload mixed --rate 1 ${flag}`),
  ]);

  it('reads objectives as `maitred load` does, where nothing but loads varies around the settings', async () => {
    const told = async (rate: string, slo: string) =>
      (await sim('--workload', 'chat', '--engines', '1,2', '--rate', rate, '--slo', slo)).errors;
    expect(await told('1,2', 'completed > 1')).toEqual([
      expect.stringMatching(/^maitred: --slo takes several values of/),
    ]);
    expect(await told('1', 'program.p95 < 3')).toEqual([
      expect.stringMatching(/^maitred: --slo: .*; did you mean program_seconds\.p95\?$/),
    ]);
  });

  it('says how many runs there would be, if too many', async () => {
    const line = '--workload mixed --rate 1,2,3 --window 1,2,3,4 --gate 0.5,1 --seed 0,1..41';
    const { code, errors } = await sim(...line.split(' '));
    expect(code).toBe(2);
    expect(errors[0]).toMatch(/^maitred: 1,008 runs \(3 of --rate x 4 of --window x 2 of --gate x 42 of --seed\)/);
  });

  it('names a flag as it is typed, and all that it takes', async () => {
    const told = async (...args: string[]) => (await sim('--workload', 'chat', '--rate', '1', ...args)).errors;
    expect(await told('--host-gate', 'x')).toEqual([expect.stringMatching(/^maitred: --host-gate: must be a number/)]);
    expect(await told('--window', '3.5')).toEqual([
      expect.stringMatching(/--window: must be auto, adaptive or a whole/),
    ]);
  });

  it.each([
    [
      '--workload chat --programs 2 --concurrency 2 --policy pass-through --gate 0.5 --foresight declared',
      /--gate, --foresight: no effect under pass-through/,
    ],
    [
      '--workload chat --programs 2 --concurrency 2 --tenants weighted',
      '--tenants: no effect, as no program has a tenant',
    ],
    ['--workload chat --programs 2 --concurrency 2 --host-gate 0.5,1', /--host-gate: no effect without --host-tokens/],
    ['--workload chat --programs 2 --concurrency 48', /all 2 programs run at once, so 48 at a time .* --programs/],
    ['--trace examples/programs.jsonl --policy plas --programs 100', /recording has 24 programs: --rate or --concurr/],
    [
      '--workload chat --programs 2 --concurrency 2 --host-writes evicted',
      '--host-writes: no effect without --host-tokens',
    ],
  ])('says what has no effect: %s', async (line, told) => {
    const { code, errors } = await sim(...line.split(' '));
    expect(code).toBe(0);
    expect(errors).toEqual([expect.stringMatching(told)]);
  });

  it('warns of no programs that all run at once where a search takes more of them', async () => {
    const line =
      '--workload chat --concurrency 301 --engines auto --seed 1 --policy plas --slo program_seconds.p95<0.001';
    expect((await sim(...line.split(' '))).errors).toEqual([]);
  });

  it('names each wrong key of a workload’s file on a line of its own', async () => {
    const file = fileOf('own.yaml', 'workloads: { a: { kind: nonsense }, b: { kind: nonsense } }\n');
    const { code, errors } = await sim('--workload', file, '--rate', '1');
    expect(code).toBe(2);
    expect(errors.length).toBeGreaterThan(1);
  });

  it('names each wrong key of conditions, and its line', async () => {
    const file = fileOf('conditions.yaml', 'cancels:\n  share: 2\nrefusal: { share: 0.1 }\nclients: { retrys: 1 }\n');
    const { code, errors } = await sim('--workload', 'chat', '--rate', '1', '--conditions', file);
    const empty = await sim('--workload', 'chat', '--rate', '1', '--conditions', fileOf('empty.yaml', '\n'));
    expect(empty.errors.join()).toContain('It has no section, such as engineLoss: choose none for no failures.');
    expect(code).toBe(2);
    expect(errors.map((line) => line.replace(`maitred: ${file}`, 'FILE'))).toEqual([
      'FILE:4: clients.retrys: is not a known key; did you mean retries?',
      expect.stringMatching(/FILE:2: cancels\.share/),
      'FILE:3: refusal: is not a known key; did you mean refusals?',
    ]);
  });

  itHelps(sim, 'maitred sim', ['--help']);
});
