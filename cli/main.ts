#!/usr/bin/env node
import { main } from './program.js';

/** A reader that has seen enough (`maitred config | head -1`) is no fault of ours, nor is one of messages that is gone. */
const whenBroken = (then: () => void) => (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  then();
};
process.stdout.on(
  'error',
  whenBroken(() => process.exit(0)),
);
process.stderr.on(
  'error',
  whenBroken(() => undefined),
);

process.exit(await main(process.argv));
