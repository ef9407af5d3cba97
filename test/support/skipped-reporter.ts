import type { Reporter, TestModule } from 'vitest/node';

/** Beyond this, names were filtered (`-t`), and the list would say nothing. */
const NAMES_MAX = 40;

/** Says at the end what was skipped. */
export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const names = modules.flatMap((each) =>
      [...each.children.allTests('skipped')].map(({ fullName }) => `${each.relativeModuleId}: ${fullName}`),
    );
    if (names.length > 0 && names.length <= NAMES_MAX)
      process.stdout.write(`Skipped:\n${names.map((name) => `  ${name}\n`).join('')}\n`);
  }
}
