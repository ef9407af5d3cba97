import { defineConfig } from 'vitest/config';

/** Gateways' shared state on a real redis-server that is stopped, slow, emptied and replaced; skipped without one. */
export default defineConfig({
  test: {
    include: ['test/slow/cluster/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
