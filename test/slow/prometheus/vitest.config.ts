import { defineConfig } from 'vitest/config';

/** A real Prometheus that scrapes a gateway under load; skipped where it is not installed. */
export default defineConfig({
  test: {
    include: ['test/slow/prometheus/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
