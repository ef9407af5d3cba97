import { describe, expect, it, onTestFinished } from 'vitest';
import { startEngine } from '../../../sim/index.js';
import { demo } from '../../support/demo.js';

describe('npm run demo', () => {
  it('prints JSON in which the gateway saw each program as one, and engines and gateway count the same hits', async () => {
    const { code, out, err } = await demo('--full', '--synthetic', '--programs', '2', '--speed', '500', '--json');
    expect(code, err).toBe(0);
    const { workloads, summaries, comparisons } = JSON.parse(out) as {
      workloads: string[];
      summaries: Record<string, unknown>[];
      comparisons: unknown[];
    };
    expect(workloads).toHaveLength(1);
    expect(comparisons).toMatchObject([{ policy: 'fcfs-window' }, { policy: 'plas', against: 'pass-through' }]);
    expect(summaries.map(({ policy }) => policy)).toEqual(['pass-through', 'fcfs-window', 'plas']);
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
      { policy: 'pass-through', programs: 24, failures: 0, gateway: { programsRight: 24 } },
      { policy: 'fcfs-window', programs: 24, failures: 0, gateway: { programsRight: 24 } },
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
      '--full',
      '--json',
    ];
    const { code, out, err } = await demo(...args);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ summaries: [{ policy: 'plas', programs: 2, failures: 2 }] });
    expect(err).toMatch(/^plas: agent-1-1: call 1 of \d+: /m);
  });
});
