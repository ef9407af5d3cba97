import { defineConfig } from 'vitest/config';

/** The simulated world replaces timers, clocks and sockets of its whole process. */
const WORLDS = ['test/campaign/**/*.test.ts'];

export default defineConfig({
  test: {
    exclude: ['test/slow/**'],
    testTimeout: 60_000,
    // Left to itself it keeps one core for its own work, which on two makes the suite half as fast.
    maxWorkers: '100%',
    projects: [
      { extends: true, test: { name: 'worlds', include: WORLDS } },
      // Files share their worker's modules: importing them anew for each took a third of the suite's time.
      {
        extends: true,
        test: { name: 'all', include: ['test/**/*.test.ts'], exclude: ['test/slow/**', ...WORLDS], isolate: false },
      },
    ],
  },
});
