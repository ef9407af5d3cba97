#!/usr/bin/env node
/** The command of the package. It is there before the first build: npx would remember a missing one, and never find it again. */
import { existsSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write('maitred: not built yet: npm start builds and starts it, npm run build only builds it\n');
  process.exit(1);
}
