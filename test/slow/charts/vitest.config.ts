import { defineConfig } from 'vitest/config';

/**
 * Each test runs helm, and the container's also npm. TEST_HELM (helm), TEST_KUBERNETES_VALIDATE (kubernetes-validate of
 * PyPI) name binaries outside of the PATH; TEST_KUBECONFIG a cluster to install into. What is absent is skipped.
 */
export default defineConfig({
  test: {
    include: ['test/slow/charts/**/*.test.ts'],
    reporters: 'verbose',
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
