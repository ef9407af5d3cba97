import { defineConfig } from 'vitest/config';

/** Real clients take seconds each, and share the machine with the gateway: one file at a time. */
export default defineConfig({
  test: {
    include: ['test/slow/clients/**/*.test.ts'],
    globalSetup: 'test/slow/clients/setup.ts',
    fileParallelism: false,
    reporters: 'verbose',
    testTimeout: 180_000,
  },
});
