import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEngine } from '../../sim/index.js';
import { fileOf } from '../support/folder.js';
import { jsonLines, trajectory } from '../support/trajectory.js';
import { ROOT } from '../support/tree.js';

/** As `npm run demo` starts it. */
async function demo(...args: string[]) {
  const child = spawn(process.execPath, [join(ROOT, 'dist/demo/main.js'), ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], MAITRED_POLICY_NAME: 'nobody' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

const TINY = ['one', 'two', 'three'].map((id) => trajectory(id, ['look', 'edit', 'done']));

describe('npm run demo', () => {
  it('plays recorded programs through each policy and prints a row for each', async () => {
    const traces = fileOf('a.jsonl', `${jsonLines(TINY)}{"instance_id":"cut","messages":[{"role":"us`);
    const { code, out, err } = await demo('--traces', traces, '--speed', '100');
    expect(code, err).toBe(0);
    expect(out).toMatch(/^3 recorded mini-swe-agent programs, all at once, 9 calls /);
    const table = out.split('\n').filter((line) => /^(policy|fcfs|plas) {2,}/.test(line));
    expect(table.map((line) => line.split(/ {2,}/)[0])).toEqual(['policy', 'fcfs', 'plas']);
    expect(out).toMatch(/plas against fcfs: mean \d+\.\d\dx, p50 \d+\.\d\dx, p99 \d+\.\d\dx/);
    expect(err).toContain(`left out: ${traces}, line 4`);
    expect(err).toContain('9 of 9 calls answered, 3 of 3 programs done');
  });

  it('prints JSON in which the gateway saw each program as one, and engines and gateway count the same hits', async () => {
    const { code, out, err } = await demo('--synthetic', '--programs', '2', '--speed', '500', '--json');
    expect(code, err).toBe(0);
    const { workloads, summaries, comparisons } = JSON.parse(out) as {
      workloads: string[];
      summaries: Record<string, unknown>[];
      comparisons: unknown[];
    };
    expect(workloads).toHaveLength(1);
    expect(comparisons).toMatchObject([{ policy: 'plas', against: 'fcfs' }]);
    expect(summaries.map(({ policy }) => policy)).toEqual(['fcfs', 'plas']);
    for (const summary of summaries) {
      expect(summary).toMatchObject({ programs: 2, failures: 0, gateway: { programs: 2, programsRight: 2 } });
      expect(summary['gateway']).toMatchObject({ hitRate: summary['hitRate'] });
    }
  });

  it('runs on an engine that is there, with contexts made for its cache', async () => {
    const engine = await startEngine({ preset: 'tiny-cpu', speed: 100 });
    onTestFinished(() => engine.close());
    const { code, out, err } = await demo('-e', `${engine.url}/v1`, '--programs', '24', '--gap-scale', '0', '--json');
    expect(code, err).toBe(0);
    const { workloads, summaries } = JSON.parse(out) as { workloads: string[]; summaries: unknown[] };
    const [, largest] = /([\d.]+) k at their largest/.exec(workloads[0]!)!;
    expect(Number(largest)).toBeGreaterThan(3 * 12.8 * 0.9);
    expect(Number(largest)).toBeLessThan(3 * 12.8 * 1.1);
    expect(summaries).toMatchObject([
      { policy: 'fcfs', programs: 24, failures: 0, gateway: { programsRight: 24 } },
      { policy: 'plas', programs: 24, failures: 0, gateway: { programsRight: 24 } },
    ]);
  });

  it('fails when programs do not finish in time, and says which', async () => {
    const args = [
      '--synthetic',
      '--programs',
      '2',
      '--speed',
      '0.1',
      '--time-limit',
      '1',
      '--policies',
      'plas',
      '--json',
    ];
    const { code, out, err } = await demo(...args);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ summaries: [{ policy: 'plas', programs: 2, failures: 2 }] });
    expect(err).toMatch(/^plas: agent-1-1: call 1 of \d+: /m);
  });

  it('fails when no engine is there', async () => {
    const engine = await startEngine();
    await engine.close();
    expect((await demo('--engine', engine.url)).code).toBe(1);
  });
});
