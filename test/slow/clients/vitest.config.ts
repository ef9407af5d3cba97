import { defineConfig } from 'vitest/config';

/** One file at a time, because real clients take seconds each and share the machine with the gateway. */
export default defineConfig({
  test: {
    include: ['test/slow/clients/**/*.test.ts'],
    globalSetup: 'test/slow/clients/setup.ts',
    fileParallelism: false,
    reporters: 'verbose',
    testTimeout: 180_000,
  },
});
