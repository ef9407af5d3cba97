import { defineConfig } from 'vitest/config';

/** Tests like those of `npm test` that take too long for it. */
export default defineConfig({
  test: {
    include: ['test/slow/long/**/*.test.ts'],
    testTimeout: 300_000,
    maxWorkers: '100%',
  },
});
