import { defineConfig } from 'vitest/config';

/** A real kube-apiserver; see `build.sh`. */
export default defineConfig({ test: { include: ['test/slow/kubernetes/**/*.test.ts'], testTimeout: 300_000 } });
