import type { TestProject } from 'vitest/node';
import { provideSet, SET_NAMES, type Install, type SetName } from './installs.js';

declare module 'vitest' {
  interface ProvidedContext {
    readonly installs: Readonly<Record<SetName, Install>>;
  }
}

/** Installs missing packages, once for all test files. */
export function setup(project: TestProject): void {
  const installs = SET_NAMES.map((name) => [name, provideSet(name)] as const);
  project.provide('installs', Object.fromEntries(installs) as Record<SetName, Install>);
}
