import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { SimDocument } from '../../cli/sim/document.js';
import { fileOf } from '../support/folder.js';
import { BINARY } from '../support/maitred.js';
import { fragmentOf } from '../../cli/sim/scheduling.js';
import { call, CHAT, json, recorded, sim } from '../support/sim-command.js';
import { fieldsTold, readText } from '../support/tree.js';

/** Of one command, run by whichever test comes first. */
let swept: ReturnType<typeof json> | undefined;
const SWEEP = ['--workload', 'react', '--programs', '120', '--kv-tokens', '20000', '--host-tokens', '40000', '--rate', '2,3', '--window', '2,256', '--engines', '2', '--seed', '1,2']; // prettier-ignore
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
      [['plas', 'round-robin'], ['srpt', 'sticky'], ['srpt', 'round-robin']].map((two) => [...two, { policy: 'plas', balancer: 'sticky' }]), // prettier-ignore
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
      const { document } = await json('--workload', 'mixed', '--rate', '4', '--programs', '12', '--policy', 'plas', '--config', file); // prettier-ignore
      return document.runs[0]!.starvation_promotions;
    };
    const [none, some] = [await promotions('{}'), await promotions('{ workflows: { mcts: 10 } }')];
    expect(some).toBeGreaterThan(none + 10);
  });

  it('compares plas with fcfs-window too, each with its own settings: the worth of the order alone', async () => {
    const orderOf = async (args: string) => {
      const { document } = await json(...CHAT, ...args.split(' ').filter(Boolean));
      return document.order.map(({ policy, settings, against }) => [policy, settings?.window, against.policy, against.settings?.window]); // prettier-ignore
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
    expect(document.runs.map(({ settings, seed }) => `${settings?.rate} ${settings?.window} ${seed}`)).toEqual(
      ['2 2 1', '2 2 2', '2 256 1', '2 256 2', '3 2 1', '3 2 2', '3 256 1', '3 256 2'], // prettier-ignore
    );
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
    expect([pays, sustained]).toEqual([expect.stringMatching(/^window 256 pays/), expect.stringMatching(/^Sustained in most seeds: /)]); // prettier-ignore
    expect(lower).toBe(
      'window 2 sustains none of these loads: run again with --rate auto, which looks for those that it does.',
    );
    expect(document.ratios.map(({ verdict }) => verdict)).toEqual([2, 3].map(() => expect.stringMatching(/ faster\*$/) as string)); // prettier-ignore
    const { out } = await sim(...SWEEP);
    expect(out).toMatch(/^Times divided by those of window 2: below 1 is faster\.$/m);
    expect(out).toMatch(/^2 +256 +\S+ faster\* +\S+ \(.*\)$/m);
    expect(out).toMatch(/^All figures: --json\.$/m);
    expect(out).toContain('\nIn the gateway’s YAML file:\nadmission:\n  window: 256\n');
    expect(fragmentOf({ policy: 'plas' })).toEqual(['This is the gateway’s default. Where its YAML file sets something else, set there:', 'policy:', '  name: plas']); // prettier-ignore
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

describe('maitred sim', () => {
  it('recommends no change where there is none, nor a policy that sees the future', async () => {
    const args = ['--workload', 'chat', '--programs', '60', '--concurrency', '64', '--policy', 'pass-through,srpt'];
    const { out } = await sim(...args, '--window', '2,4', '--seed', '1,2');
    expect(out).toMatch(/^Keep pass-through: nothing is significantly better\./);
  });

  it('prints a table with a row for each policy, of a width that a terminal has', async () => {
    const { code, out, errors } = await sim(...CHAT, '--policy', 'pass-through,las-decayed,srpt', '--seed', '1,2,3');
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
    const lines = out.split('\n');
    const rowsOf = (policy: string) => lines.filter((line) => line.startsWith(`${policy} `)).length;
    expect(['pass-through', 'las-decayed', 'srpt'].map(rowsOf)).toEqual([2, 3, 3]);
    const sentences = lines.filter((line) => line.endsWith('.'));
    expect(Math.max(...lines.filter((line) => !sentences.includes(line)).map((line) => line.length))).toBeLessThanOrEqual(120); // prettier-ignore
  });

  it('compares no scheduling, the gate and the order, unless the command says what to compare', async () => {
    const policies = async (...more: string[]) => (await json(...CHAT, ...more)).document.settings.policies;
    expect(await policies()).toEqual(['pass-through', 'fcfs-window', 'plas']);
    expect(await policies('--window', '8,9')).toEqual(['plas']);
    expect(await policies('--config', fileOf('own.yaml', 'policy: { name: fcfs-window }'))).toEqual([
      'pass-through',
      'fcfs-window',
    ]);
    expect(await policies('--config', fileOf('none.yaml', 'policy: { name: pass-through }'))).toEqual(['pass-through', 'plas']); // prettier-ignore
  });

  it('runs once what chance plays no part in, and says so', async () => {
    const file = fileOf('timed.jsonl', recorded('p', { arrivalMs: 0 }) + recorded('q', { arrivalMs: 50 }));
    const args = ['--trace', file, '--policy', 'pass-through,plas', '--seed', '1,2', '--json'];
    const { code, out, errors } = await sim(...args);
    expect([code, errors.length]).toEqual([0, 1]);
    const { settings, runs, ratios } = JSON.parse(out) as SimDocument;
    expect([settings.exact, settings.seeds, runs.length]).toEqual([true, [1], 2]);
    expect(ratios[0]!.program_seconds.mean).toMatchObject({ low: null, high: null });
    const faulty = JSON.parse((await sim(...args, '--conditions', 'production')).out) as SimDocument;
    expect([faulty.settings.exact, faulty.runs.length]).toEqual([false, 4]);
  });

  it('compares settings under each of several conditions', async () => {
    const file = fileOf('timeouts.yaml', 'clients: { timeoutMs: 5000, retries: 0, streamShare: 0 }\n');
    const { document } = await json(...CHAT, '--policy', 'pass-through,plas', '--seed', '1,2', '--conditions', `none,${file}`); // prettier-ignore
    expect(document.runs.map(({ failed, settings }) => [settings!.conditions, failed > 0])).toEqual(['none', 'none', 'none', 'none', file, file, file, file].map((name) => [name, name === file])); // prettier-ignore
    expect(document.ratios.map(({ against }) => against.settings!.conditions)).toEqual(['none', file]);
  });

  it('takes settings from the gateway’s file, flags over them, and refuses as it says', async () => {
    const file = fileOf(
      'maitred.yaml',
      `engines: [{ url: "http://a" }, { url: "http://b", apiKey: env:NOT_SET }]
policy: { name: fcfs-window, firstQuantumMs: 3 }
admission: { window: 1, gate: 0.5 }
limits: { queuedMax: 1 }
`,
    );
    const args = '--workload chat --concurrency 12 --programs 20 --gate 0 --policy fcfs-window'.split(' ');
    const { settings, runs } = (await json(...args, '--config', file)).document;
    expect(settings.config).toMatchObject({
      policy: { firstQuantumMs: 3 },
      admission: { window: 1, gate: 0 },
      limits: { queuedMax: 1 },
    });
    expect(runs).toMatchObject([{ policy: 'fcfs-window', engines: 2 }]);
    expect(runs[0]!.refused['queue_full']).toBeGreaterThan(0);
    expect(runs[0]!.completed + runs[0]!.failed).toBe(20);
  });

  it('takes the sizes of the file’s engines, names what it cannot follow, and lets flags go first', async () => {
    const sized =
      'capacityTokens: 60000, window: 1, hostTokens: 5000, hostTokensPerSecond: 1000, contextTokensMax: 9000';
    const file = (more: string) => fileOf('sized.yaml', `engines: [{ url: "http://a", ${sized} }, { url: "http://b", ${sized}${more} }]\n`); // prettier-ignore
    const run = async (name: string, ...more: string[]) => {
      const { code, errors, document } = await json('--workload', 'chat', '--concurrency', '12', '--programs', '12', '--policy', 'plas', '--config', name, '--preset', 'llama-3.1-8b-h100', ...more); // prettier-ignore
      const { kv_tokens, host_tokens, host_gbps, preset } = document.settings;
      const { queue_seconds, refused } = document.runs[0]!;
      return { code, errors, preset, kv_tokens, host_tokens, host_gbps, waited: queue_seconds.max! > 0, refused };
    };
    const all = { code: 0, errors: [], refused: {}, preset: 'llama-3.1-8b-h100', kv_tokens: 60_000, host_tokens: 5000, host_gbps: 0.131072, waited: true }; // prettier-ignore
    expect(await run(file(''))).toEqual(all);
    const flags = ['--kv-tokens', '70000', '--host-tokens', '0', '--window', '64'];
    expect(await run(file(''), ...flags)).toEqual({ ...all, kv_tokens: 70_000, host_tokens: undefined, host_gbps: undefined, waited: false }); // prettier-ignore
    const { errors, ...differing } = await run(fileOf('own.yaml', 'engines: [{ url: "http://a", capacityTokens: 60000, window: 3 }, { url: "http://b", capacityTokens: 60000 }]\n')); // prettier-ignore
    expect(errors).toEqual([expect.stringMatching(/own\.yaml: engines\[\]\.window: .*--window/)]);
    expect(differing).toMatchObject({ kv_tokens: 60_000, waited: false });
    const { errors: told } = await sim(...CHAT, '--config', fileOf('found.yaml', 'discovery: [{ dns: { name: a.b, port: 1 } }]\n')); // prettier-ignore
    expect(told).toEqual([expect.stringContaining('--engines'), expect.stringContaining('--preset')]);
    expect((await run(fileOf('short.yaml', 'engines: [{ url: "http://a", contextTokensMax: 600 }]\n'))).refused).toHaveProperty('too_long'); // prettier-ignore
  });

  it.each(['2', '2,4'])('fails where no program completed, and says what would help, at rates %s', async (rate) => {
    const { code, out, errors } = await sim('--workload', 'coding', '--programs', '5', '--rate', rate, '--preset', 'tiny-cpu'); // prettier-ignore
    expect({ code, errors }).toEqual({ code: 1, errors: [] });
    expect(out).toMatch(/^No program completed, .*\(too_long\): .*--preset/m);
    expect(out).not.toContain('run again');
    // Not even of calls that were answered before.
    expect(out).toMatch(/pass-through( +-){8} .* \d+\.\d % /);
  });

  it('tells of one setting at several rates which it sustains, and compares no rates', async () => {
    const { out } = await sim('--workload', 'react', '--programs', '80', '--kv-tokens', '20000', '--policy', 'plas', '--rate', '0.1,3', '--seed', '1,2'); // prettier-ignore
    expect(out.split('\n\n')[0]).toMatch(/^Sustained in most seeds: [^\n]*$/);
  });

  it('plays gaps no longer than it is told', async () => {
    const file = fileOf('long.jsonl', recorded('p', { calls: [call, { ...call, after: [0], gapMs: 3_600_000 }] }));
    const args = ['--trace', file, '--concurrency', '1', '--programs', '2'];
    for (const [flags, gap, told] of [
      [[], 3600, null],
      [['--gap-max', '1.5m'], 90, 90],
    ] as const) {
      const { settings, runs } = (await json(...args, ...flags)).document;
      expect(settings.gap_max_seconds).toBe(told);
      expect(runs[0]!.makespan_seconds! / 2).toBeGreaterThan(gap);
      expect(runs[0]!.makespan_seconds! / 2).toBeLessThan(gap + 5);
    }
  });
});
