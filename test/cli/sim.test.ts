import { describe, expect, it } from 'vitest';
import type { SimDocument } from '../../cli/sim/document.js';
import { fileOf } from '../support/folder.js';
import { call, CHAT, json, recorded, sim } from '../support/sim-command.js';

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
    expect(
      Math.max(...lines.filter((line) => !sentences.includes(line)).map((line) => line.length)),
    ).toBeLessThanOrEqual(120);
  });

  it('compares no scheduling, the gate and the order, unless the command says what to compare', async () => {
    const policies = async (...more: string[]) => (await json(...CHAT, ...more)).document.settings.policies;
    expect(await policies()).toEqual(['pass-through', 'fcfs-window', 'plas']);
    expect(await policies('--window', '8,9')).toEqual(['plas']);
    expect(await policies('--config', fileOf('own.yaml', 'policy: { name: fcfs-window }'))).toEqual([
      'pass-through',
      'fcfs-window',
    ]);
    expect(await policies('--config', fileOf('none.yaml', 'policy: { name: pass-through }'))).toEqual([
      'pass-through',
      'plas',
    ]);
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
    const { document } = await json(
      ...CHAT,
      '--policy',
      'pass-through,plas',
      '--seed',
      '1,2',
      '--conditions',
      `none,${file}`,
    );
    expect(document.runs.map(({ failed, settings }) => [settings!.conditions, failed > 0])).toEqual(
      ['none', 'none', 'none', 'none', file, file, file, file].map((name) => [name, name === file]),
    );
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
    const file = (more: string) =>
      fileOf('sized.yaml', `engines: [{ url: "http://a", ${sized} }, { url: "http://b", ${sized}${more} }]\n`);
    const run = async (name: string, ...more: string[]) => {
      const { code, errors, document } = await json(
        '--workload',
        'chat',
        '--concurrency',
        '12',
        '--programs',
        '12',
        '--policy',
        'plas',
        '--config',
        name,
        '--preset',
        'llama-3.1-8b-h100',
        ...more,
      );
      const { kv_tokens, host_tokens, host_gbps, preset } = document.settings;
      const { queue_seconds, refused } = document.runs[0]!;
      return { code, errors, preset, kv_tokens, host_tokens, host_gbps, waited: queue_seconds.max! > 0, refused };
    };
    const all = {
      code: 0,
      errors: [],
      refused: {},
      preset: 'llama-3.1-8b-h100',
      kv_tokens: 60_000,
      host_tokens: 5000,
      host_gbps: 0.131072,
      waited: true,
    };
    expect(await run(file(''))).toEqual(all);
    const flags = ['--kv-tokens', '70000', '--host-tokens', '0', '--window', '64'];
    expect(await run(file(''), ...flags)).toEqual({
      ...all,
      kv_tokens: 70_000,
      host_tokens: undefined,
      host_gbps: undefined,
      waited: false,
    });
    const { errors, ...differing } = await run(
      fileOf(
        'own.yaml',
        'engines: [{ url: "http://a", capacityTokens: 60000, window: 3 }, { url: "http://b", capacityTokens: 60000 }]\n',
      ),
    );
    expect(errors).toEqual([expect.stringMatching(/own\.yaml: engines\[\]\.window: .*--window/)]);
    expect(differing).toMatchObject({ kv_tokens: 60_000, waited: false });
    const { errors: told } = await sim(
      ...CHAT,
      '--config',
      fileOf('found.yaml', 'discovery: [{ dns: { name: a.b, port: 1 } }]\n'),
    );
    expect(told).toEqual([expect.stringContaining('--engines'), expect.stringContaining('--preset')]);
    expect(
      (await run(fileOf('short.yaml', 'engines: [{ url: "http://a", contextTokensMax: 600 }]\n'))).refused,
    ).toHaveProperty('too_long');
  });

  it.each(['2', '2,4'])('fails where no program completed, and says what would help, at rates %s', async (rate) => {
    const { code, out, errors } = await sim(
      '--workload',
      'coding',
      '--programs',
      '5',
      '--rate',
      rate,
      '--preset',
      'tiny-cpu',
    );
    expect({ code, errors }).toEqual({ code: 1, errors: [] });
    expect(out).toMatch(/^No program completed, .*\(too_long\): .*--preset/m);
    expect(out).not.toContain('run again');
    // Not even of calls that were answered before.
    expect(out).toMatch(/pass-through( +-){8} .* \d+\.\d % /);
  });

  it('tells of one setting at several rates which it sustains, and compares no rates', async () => {
    const { out } = await sim(
      '--workload',
      'react',
      '--programs',
      '80',
      '--kv-tokens',
      '20000',
      '--policy',
      'plas',
      '--rate',
      '0.1,3',
      '--seed',
      '1,2',
    );
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
