import { defineConfig } from 'vitest/config';

/** One file at a time, because the tests share one real engine and watch its gauges. */
export default defineConfig({
  test: {
    include: ['test/slow/vllm/**/*.test.ts'],
    fileParallelism: false,
    reporters: 'verbose',
    testTimeout: 60_000,
  },
});
