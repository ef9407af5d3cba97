import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/slow/**'],
    testTimeout: 60_000,
    // Left to itself it keeps one core for its own work, which on two makes the suite half as fast.
    maxWorkers: '100%',
  },
});
