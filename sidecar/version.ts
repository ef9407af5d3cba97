import { createRequire } from 'node:module';

/** Version of maitred, from its own package. */
export const { version: VERSION } = createRequire(import.meta.url)('maitred/package.json') as {
  readonly version: string;
};
