import { defineConfig } from 'vitest/config';

/** The page in a real Chromium: what Debian's `chromium` package installs, or what the variable CHROMIUM names. */
export default defineConfig({
  test: {
    include: ['test/slow/ui/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
