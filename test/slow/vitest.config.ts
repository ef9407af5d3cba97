import { defineConfig } from 'vitest/config';

const CLIENTS = 'test/slow/clients/**/*.test.ts';

/** Suites that need programs of others, or too much time for `npm test`; one file at a time, as each may need the whole machine. */
export default defineConfig({
  test: {
    fileParallelism: false,
    disableConsoleIntercept: true,
    reporters: 'verbose',
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      { extends: true, test: { name: 'slow', include: ['test/slow/**/*.test.ts'], exclude: [CLIENTS] } },
      { extends: true, test: { name: 'clients', include: [CLIENTS], globalSetup: 'test/slow/clients/setup.ts' } },
    ],
  },
});
