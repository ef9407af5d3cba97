import { describe, expect, it } from 'vitest';
import { LOADS } from '../../bench/peers/loads.js';
import { main, plan, readOptions } from '../../bench/peers/program.js';
import { HEADINGS, rowsOf } from '../../bench/peers/report.js';
import { schedulingConfig } from '../../bench/peers/router.js';
import { PEERS, resultOf, type Run } from '../../bench/peers/run.js';
import type { LoadDocument } from '../../loadtest/report/index.js';
import { run } from '../support/command-line.js';
import { folderOf } from '../support/folder.js';

const peers = (args: readonly string[], env: Record<string, string> = {}) =>
  run(args, env, (argv) => main(argv.slice(2)));

const QUIET = { seconds: 10, others_cpu_seconds: 0.5, others_cores: 0.05, disturbed: false };

describe('the options of bench:peers', () => {
  const WRONG = `--no-such-option; --loads chat; --loads fleet,fleet; --seeds 1,x; --seeds 1,1; --speed 0;
    --targets plas; --engine http://127.0.0.1:1 --speed 2; --router no/such/file`;
  it.each(WRONG.split(/;\s+/))('are refused: %s', async (line) => {
    expect(await peers(line.split(' '))).toMatchObject({ code: 2, err: expect.stringMatching(/./) as string });
  });
});

describe('the peer', () => {
  it('is skipped with the line that installs it where it is missing', async () => {
    const env = { PATH: folderOf({ 'vllm-router': 'not executable' }) };
    const { code, out, err } = await peers(['--loads', 'fleet'], env);
    expect(code).toBe(0);
    expect(out + err).toMatch(/^skipped: .*\n {2}pip install vllm-router==0\.1\.17\n/);
  });

  it('has every time divided by the speed, and nothing else', () => {
    const numbersOf = (speed: number) =>
      [...JSON.stringify(schedulingConfig(110_500, speed)).matchAll(/"(\w+)":([\d.e-]+)/g)].map(
        ([, name = '', value]) => [name, Number(value)] as const,
      );
    const real = numbersOf(1);
    for (const [index, [name, value]] of numbersOf(20).entries())
      expect(value, name).toBeCloseTo(name.includes('second') ? real[index]![1] / 20 : real[index]![1], 9);
    expect(real.length).toBeGreaterThan(9);
  });
});

describe('the loads', () => {
  const planned = (line: string) => plan(readOptions(line.split(' ')), 'r');

  it('run at a pace of their own, unless it is given', () => {
    const speeds = (line: string) => planned(`${line} --targets maitred`).map(({ load }) => load.speed);
    expect(speeds('--loads fleet,mixed')).toEqual([20, 6]);
    expect(speeds('--loads fleet,mixed --speed 2')).toEqual([2, 2]);
    expect(speeds('--engine http://127.0.0.1:1/v1')).toEqual([1]);
  });

  it('give every target its turn in each round, in alternating order', () => {
    const names = { [LOADS.fleet.title]: 'fleet', [LOADS.mixed.title]: 'mixed' };
    const turns = planned('--seeds 7,8 --loads fleet,mixed').map(({ target, seed, load }) =>
      [seed, names[load.title], target].join(' '),
    );
    expect(turns).toEqual([
      ...['7 fleet vllm-router', '7 fleet maitred', '7 fleet pass-through'],
      ...['7 mixed pass-through', '7 mixed maitred', '7 mixed vllm-router'],
      ...['8 fleet pass-through', '8 fleet maitred', '8 fleet vllm-router'],
      ...['8 mixed vllm-router', '8 mixed maitred', '8 mixed pass-through'],
    ]);
  });
});

const runOf = (more: Partial<Run>): Run => ({
  load: 'a load',
  target: 'maitred',
  seed: 1,
  meanSeconds: 90,
  p99Seconds: 200,
  msPerToken: 30,
  cachedShare: 0.875,
  programs: 10,
  completed: 10,
  refused: 0,
  failed: 0,
  errors: {},
  unfinished: 0,
  lateMsP99: 2,
  disturbance: QUIET,
  warnings: [],
  ...more,
});
const peer = (more: Partial<Run> = {}) => runOf({ target: 'vllm-router', meanSeconds: 100, msPerToken: 25, ...more });

describe('the table', () => {
  it('sets each run against the peer of its seed', () => {
    const rows = rowsOf([runOf({}), peer(), runOf({ target: 'pass-through', meanSeconds: 150 })], PEERS);
    expect(rows).toEqual([
      ['vllm-router', '1', '100 (200)', '1.00', '25', '1.00', '88 %', '10/10', '0', '0', '2', '0.05'],
      ['maitred', '1', '90 (200)', '0.90', '30', '1.20', '88 %', '10/10', '0', '0', '2', '0.05'],
      ['pass-through', '1', '150 (200)', '1.50', '30', '1.20', '88 %', '10/10', '0', '0', '2', '0.05'],
    ]);
    expect(rows[0]).toHaveLength(HEADINGS.length);
  });
});

describe('a result', () => {
  it('has the times of the load tester, which are in model time, and counts refusals apart from other failures', () => {
    const document = {
      programs_unfinished: 1,
      warnings: ['late'],
      generator: { late_send_ms: { mean: 1, p99: 5, max: 9 } },
      targets: [
        {
          programs: 12,
          completed: 8,
          prompt_tokens: 1000,
          cached_tokens: 250,
          calls_failed: 6,
          errors: { http_429: 1, http_503: 2, timeout: 3 },
          error_examples: { timeout: 'no answer' },
          program_seconds: { mean: 4, p99: 10 },
          seconds_per_token: { mean: 0.002 },
        },
      ],
    } as unknown as LoadDocument;
    expect(resultOf(document, LOADS.fleet, 'pass-through', 3, QUIET)).toEqual({
      load: LOADS.fleet.title,
      target: 'pass-through',
      seed: 3,
      meanSeconds: 4,
      p99Seconds: 10,
      msPerToken: 2,
      cachedShare: 0.25,
      programs: 12,
      completed: 8,
      refused: 3,
      failed: 3,
      errors: { timeout: 'no answer' },
      unfinished: 1,
      lateMsP99: 5,
      disturbance: QUIET,
      warnings: ['late'],
    });
  });
});
