import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { SimDocument } from '../../cli/sim/document.js';
import { fileOf } from '../support/folder.js';
import { BINARY } from '../support/maitred.js';
import { fragmentOf } from '../../cli/sim/scheduling.js';
import { CHAT, json, sim } from '../support/sim-command.js';
import { fieldsTold, readText } from '../support/tree.js';

/** Of one command, run by whichever test comes first. */
let swept: ReturnType<typeof json> | undefined;
const SWEEP =
  '--workload react --programs 120 --kv-tokens 20000 --host-tokens 40000 --rate 2,3 --window 2,256 --engines 2 --seed 1,2'.split(
    ' ',
  );
const sweep = () => (swept ??= json(...SWEEP));

describe('maitred sim --json', () => {
  /** Of one command, run by whichever test comes first. */
  let found: Promise<{ readonly document: SimDocument }> | undefined;
  const documentOfAll = async () => {
    const choices = ['--policy', 'plas,srpt', '--balancer', 'sticky,round-robin', '--seed', '3,1', '--engines', '2'];
    return (await (found ??= json(...CHAT, ...choices))).document;
  };

  it('has a run for each policy, balancer and seed, in the order of the command line', async () => {
    const document = await documentOfAll();
    expect(document).toMatchObject({ version: 1, complete: true });
    expect(document.runs.map(({ policy, balancer, seed }) => `${policy} ${balancer} ${seed}`)).toEqual(
      ['plas', 'srpt'].flatMap((policy) =>
        ['sticky 1', 'sticky 3', 'round-robin 1', 'round-robin 3'].map((rest) => `${policy} ${rest}`),
      ),
    );
    for (const run of document.runs)
      expect(run).toMatchObject({ engines: 2, complete: true, programs: 12, completed: 12, failed: 0, refused: {} });
  });

  it('comes whole through a pipe, however slowly it is read', () => {
    const seeds = Array.from({ length: 24 }, (_, seed) => seed);
    const args = [...'sim --json --workload chat --rate 9 --programs 1 --policy plas --seed'.split(' '), seeds.join()];
    // A pipe is full at 64 KiB; the wait is for a writer that does not mind and ends.
    const slowly = '"$0" "$@" | { dd bs=1 count=1 2> /dev/null; sleep 0.3; cat; }';
    const { stdout } = spawnSync('sh', ['-c', slowly, process.execPath, BINARY, ...args]);
    expect(stdout.length).toBeGreaterThan(2 ** 16);
    expect((JSON.parse(String(stdout)) as SimDocument).runs.map(({ seed }) => seed)).toEqual(seeds);
  });

  it('compares each policy and balancer with the first, over the seeds', async () => {
    const document = await documentOfAll();
    expect(document.ratios.map(({ policy, balancer, against }) => [policy, balancer, against])).toEqual(
      [
        ['plas', 'round-robin'],
        ['srpt', 'sticky'],
        ['srpt', 'round-robin'],
      ].map((two) => [...two, { policy: 'plas', balancer: 'sticky' }]),
    );
    const [first, second] = [0, 2].map((from) =>
      document.runs.slice(from, from + 2).map((run) => run.program_seconds.mean!),
    );
    const { ratio, low, high, pairs } = document.ratios[0]!.program_seconds.mean;
    expect(ratio).toBeCloseTo((second![0]! + second![1]!) / (first![0]! + first![1]!), 9);
    expect(pairs).toBe(2);
    expect(low).toBeLessThanOrEqual(ratio!);
    expect(high).toBeGreaterThanOrEqual(ratio!);
  });

  it('holds classes to the objectives of a file', async () => {
    const promotions = async (objectives: string) => {
      const file = fileOf('classes.yaml', `objectives: ${objectives}\nadmission: { window: 2 }\n`);
      const { document } = await json(
        '--workload',
        'mixed',
        '--rate',
        '4',
        '--programs',
        '12',
        '--policy',
        'plas',
        '--config',
        file,
      );
      return document.runs[0]!.starvation_promotions;
    };
    const [none, some] = [await promotions('{}'), await promotions('{ workflows: { mcts: 10 } }')];
    expect(some).toBeGreaterThan(none + 10);
  });

  it('compares plas with fcfs-window too, each with its own settings: the worth of the order alone', async () => {
    const orderOf = async (args: string) => {
      const { document } = await json(...CHAT, ...args.split(' ').filter(Boolean));
      return document.order.map(({ policy, settings, against }) => [
        policy,
        settings?.window,
        against.policy,
        against.settings?.window,
      ]);
    };
    expect(await orderOf('')).toEqual([['plas', undefined, 'fcfs-window', undefined]]);
    expect(await orderOf('--policy fcfs-window,plas')).toEqual([]);
    expect(await orderOf('--policy pass-through,plas')).toEqual([]);
    expect(await orderOf('--policy pass-through,fcfs-window,plas --window 4,8')).toEqual(
      [4, 8].map((window) => ['plas', window, 'fcfs-window', window]),
    );
  });

  it('has the measures that docs/JSON.md lists, in each run', async () => {
    const { runs } = await documentOfAll();
    const [, chapter = ''] = readText('docs/JSON.md').split(/^## /m);
    expect(Object.keys(runs[0]!)).toEqual(expect.arrayContaining(fieldsTold(chapter)));
  });

  it('is the same, byte by byte, whatever runs at the same time', async () => {
    const args = [...CHAT, '--policy', 'pass-through,plas', '--seed', '1,2', '--json'];
    const one = await sim(...args, '--jobs', '1');
    expect(one.code).toBe(0);
    expect((await sim(...args, '--jobs', '4')).out).toBe(one.out);
  });
});

describe('maitred sim with several loads and windows', () => {
  it('has the settings of each run, and compares them at the same load', async () => {
    const { document } = await sweep();
    expect(document.settings).toMatchObject({ varied: { rate: [2, 3], window: [2, 256] }, engines: 2 });
    expect(document.settings.arrivals).toEqual({ type: 'open', cv: 1 });
    expect(document.runs.map(({ settings, seed }) => `${settings?.rate} ${settings?.window} ${seed}`)).toEqual([
      '2 2 1',
      '2 2 2',
      '2 256 1',
      '2 256 2',
      '3 2 1',
      '3 2 2',
      '3 256 1',
      '3 256 2',
    ]);
    expect(document.ratios.map(({ settings, against }) => [settings, against.settings])).toEqual(
      [2, 3].map((rate) => [
        { rate, window: 256 },
        { rate, window: 2 },
      ]),
    );
  });

  it('gives a verdict for each load, from which one on a setting pays, and how to set it', async () => {
    const { document } = await sweep();
    const [pays, lower, sustained] = document.recommendation!.split('\n');
    expect([pays, sustained]).toEqual([
      expect.stringMatching(/^window 256 pays/),
      expect.stringMatching(/^Sustained in most seeds: /),
    ]);
    expect(lower).toBe(
      'window 2 sustains none of these loads: run again with --rate auto, which looks for those that it does.',
    );
    expect(document.ratios.map(({ verdict }) => verdict)).toEqual(
      [2, 3].map(() => expect.stringMatching(/ faster\*$/) as string),
    );
    const { out } = await sim(...SWEEP);
    expect(out).toMatch(/^Times divided by those of window 2: below 1 is faster\.$/m);
    expect(out).toMatch(/^2 +256 +\S+ faster\* +\S+ \(.*\)$/m);
    expect(out).toMatch(/^All figures: --json\.$/m);
    expect(out).toContain('\nIn the gateway’s YAML file:\nadmission:\n  window: 256\n');
    expect(fragmentOf({ policy: 'plas' })).toEqual([
      'This is the gateway’s default. Where its YAML file sets something else, set there:',
      'policy:',
      '  name: plas',
    ]);
  });

  it('compares settings with those of the gateway, wherever they are listed, and says what its file has', async () => {
    const file = fileOf('own.yaml', 'admission: { gate: 0.8 }');
    const args = [...CHAT, '--policy', 'plas', '--gate', '0.7,0.8,0.9'];
    const listed = async (...more: string[]) => (await json(...args, ...more)).document.settings.varied?.gate;
    expect(await listed()).toEqual([0.9, 0.7, 0.8]);
    expect(await listed('--config', file)).toEqual([0.8, 0.7, 0.9]);
    expect(fragmentOf({ gate: 0.8 }, file)).toEqual([`${file} has it so.`]);
  });
});
