import { defineConfig } from 'vitest/config';

/** One file after the other: what they measure is time, too. */
export default defineConfig({
  test: {
    include: ['test/slow/kill/**/*.test.ts'],
    testTimeout: 7_200_000,
    hookTimeout: 120_000,
    fileParallelism: process.env['MAITRED_KILLS_APART'] === undefined,
  },
});
