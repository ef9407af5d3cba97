import { defineConfig } from 'vitest/config';

/** Tests of `npm test`'s kind that take too long for it. */
export default defineConfig({
  test: {
    include: ['test/slow/long/**/*.test.ts'],
    testTimeout: 300_000,
    maxWorkers: '100%',
  },
});
