import { defineConfig } from 'vitest/config';

/** One real engine, and tests that watch its gauges: one at a time. */
export default defineConfig({
  test: {
    include: ['test/slow/vllm/**/*.test.ts'],
    fileParallelism: false,
    reporters: 'verbose',
    testTimeout: 60_000,
  },
});
