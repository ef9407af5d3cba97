import { defineConfig } from 'vitest/config';

/** One run at a time, because each needs the whole machine; tables are printed unchanged. */
export default defineConfig({
  test: {
    include: ['test/slow/agreement/**/*.test.ts'],
    fileParallelism: false,
    disableConsoleIntercept: true,
    reporters: 'verbose',
    testTimeout: 3_600_000,
  },
});
