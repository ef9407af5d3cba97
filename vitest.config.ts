import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Files that need a process to themselves: the simulated world replaces its timers, clocks and sockets, and the fuzzer
 * measures its processor time, to which the garbage of other files would add.
 */
const ALONE = ['test/campaign/**/*.test.ts', 'test/fuzz/**/*.test.ts'];

export default defineConfig({
  test: {
    // The first is a line for each file, the second what was skipped: names say why.
    reporters: ['default', './test/support/skipped-reporter.ts'],
    slowTestThreshold: 30_000,
    exclude: ['test/slow/**'],
    // Limits only end what hangs: a machine with four times the work that it has cores needs minutes for seconds' work.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // One more than cores: tests of processes and timers wait for a third of their time.
    maxWorkers: availableParallelism() + 1,
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      // Files share their worker's modules: importing them anew for each took a third of the suite's time.
      {
        extends: true,
        test: { name: 'all', include: ['test/**/*.test.ts'], exclude: ['test/slow/**', ...ALONE], isolate: false },
      },
    ],
  },
});
