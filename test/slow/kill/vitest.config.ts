import { defineConfig } from 'vitest/config';

/** A process that is killed `TEST_KILLS` times. */
export default defineConfig({
  test: {
    include: ['test/slow/kill/**/*.test.ts'],
    testTimeout: 900_000,
  },
});
