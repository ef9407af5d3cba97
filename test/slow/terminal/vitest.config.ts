import { defineConfig } from 'vitest/config';

/** One file at a time, because terminals are watched in real time. */
export default defineConfig({
  test: {
    include: ['test/slow/terminal/**/*.test.ts'],
    fileParallelism: false,
    reporters: 'verbose',
    testTimeout: 120_000,
  },
});
