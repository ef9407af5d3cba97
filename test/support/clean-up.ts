import { onTestFinished } from 'vitest';

/**
 * Closes after the test what it has started, the last first. An `afterEach` of a helper's module would serve the first file alone
 * of those that share the module.
 */
export function cleanUp(close: () => unknown): void {
  onTestFinished(async () => {
    await close();
  });
}
