#!/usr/bin/env node
import { main } from './program.js';

/** A reader that has seen enough (`maitred config | head -1`) is no fault of ours; a disk that is full is a failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`maitred: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});
// Nobody is left to tell.
process.stderr.on('error', () => undefined);

const code = await main(process.argv);
// A pipe takes what it has room for, and what is left would end with us; what a write came to is told after its turn.
process.stdout.write('', () => process.stderr.write('', () => setImmediate(() => process.exit(code))));
