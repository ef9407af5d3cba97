import { defineConfig } from 'vitest/config';

/** Each test runs helm, and the container's also npm. */
export default defineConfig({
  test: {
    include: ['test/slow/charts/**/*.test.ts'],
    reporters: 'verbose',
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
