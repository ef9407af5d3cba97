import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { sayDisturbance, watchOthers, cpuMsOf } from '../../bench/disturbance.js';

const BUSY_MS = 200;
const BUSY = `const until = process.cpuUsage().user + ${BUSY_MS * 1000}; while (process.cpuUsage().user < until);`;

describe('the CPU of others', () => {
  const before = cpuMsOf(process.pid);

  it.skipIf(before === undefined)('is not that of children that have ended', () => {
    const others = watchOthers();
    const own = cpuMsOf(process.pid) ?? NaN;
    spawnSync(process.execPath, ['-e', BUSY]);
    expect((cpuMsOf(process.pid) ?? NaN) - own).toBeGreaterThan(0.8 * BUSY_MS);
    const { seconds, others_cpu_seconds: used, others_cores: cores, disturbed } = others();
    expect(used).toBeGreaterThanOrEqual(0);
    expect(cores).toBeCloseTo((used ?? NaN) / seconds);
    expect(disturbed).toBe((cores ?? NaN) > 0.1);
  });

  it.each([
    [{ others_cpu_seconds: 0.4, others_cores: 0.04, disturbed: false }, false],
    [{ others_cpu_seconds: 5, others_cores: 0.5, disturbed: true }, true],
    [{ others_cpu_seconds: null, others_cores: null, disturbed: false }, false],
  ])('is told, with a warning above a tenth of a core: %j', (seen, warns) => {
    expect(sayDisturbance({ seconds: 10, ...seen }).includes('DISTURBED')).toBe(warns);
  });
});
