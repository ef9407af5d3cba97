#!/usr/bin/env node
/** The command of the package. It is there before the first build: npx would remember a missing one, and never find it again. */
import { existsSync, readFileSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  const state = isBeingBuilt()
    ? 'being built: try again when that has ended'
    : 'not built yet: npm start builds and starts it, npm run build only builds it';
  process.stderr.write(`maitred: ${state}\n`);
  process.exit(1);
}

/** Whether the process that builds is alive: one that was killed leaves its note. */
function isBeingBuilt() {
  try {
    return process.kill(Number(readFileSync(new URL('../dist/.builder', import.meta.url), 'utf8')), 0);
  } catch {
    return false;
  }
}
