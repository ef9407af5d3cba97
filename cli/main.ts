#!/usr/bin/env node
import { main } from './program.js';

/** A reader that has seen enough (`maitred config | head -1`) is no fault of ours. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}

process.exit(await main(process.argv));
