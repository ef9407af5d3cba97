import { defineConfig } from 'vitest/config';

/** Each test runs helm, and the container's also npm. */
export default defineConfig({
  test: {
    include: ['test/slow/charts/**/*.test.ts'],
    reporters: 'verbose',
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
