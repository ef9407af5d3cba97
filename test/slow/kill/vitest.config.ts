import { defineConfig } from 'vitest/config';

/** Processes killed again and again: `TEST_KILLS` times in each phase. */
export default defineConfig({
  test: {
    include: ['test/slow/kill/**/*.test.ts'],
    testTimeout: 7_200_000,
    maxWorkers: '100%',
  },
});
