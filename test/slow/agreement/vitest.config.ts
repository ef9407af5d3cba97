import { defineConfig } from 'vitest/config';

/** One run at a time, each of which wants the machine for itself; tables are printed as they are. */
export default defineConfig({
  test: {
    include: ['test/slow/agreement/**/*.test.ts'],
    fileParallelism: false,
    disableConsoleIntercept: true,
    reporters: 'verbose',
    testTimeout: 3_600_000,
  },
});
