#!/usr/bin/env node

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`maitred: needs Node 20.19 or newer, this is ${process.versions.node}\n`);
  process.exit(1);
}
// Only now: an older Node cannot even load the rest.
const { main } = await import('./program.js');

/** A reader that closes the pipe early (`maitred config | head -1`) is no failure of ours; a full disk is one. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`maitred: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});
// Nobody is left to read an error.
process.stderr.on('error', () => undefined);

const code = await main(process.argv);
// Ends only after both streams are flushed: a pipe takes what fits, and the rest would be lost. Write errors arrive a
// turn later.
process.stdout.write('', () => process.stderr.write('', () => setImmediate(() => process.exit(code))));
