/** Runs a bundle of tests, file by file, until one fails. Says each file before it runs, and the result. */
import { parentPort, workerData } from 'node:worker_threads';

const { files, collected, firstFailure } = await import(workerData);

async function failureOf(load) {
  try {
    await load();
  } catch (error) {
    return `cannot be loaded: ${error.message}`;
  }
  const failure = await firstFailure(collected());
  // A rejection that nobody handles ends the thread here.
  await new Promise(setImmediate);
  return failure;
}

let killedBy;
for (const [file, load] of files) {
  parentPort.postMessage({ file });
  const failure = await failureOf(load);
  if (failure !== undefined) {
    killedBy = `${file}: ${failure}`;
    break;
  }
}
parentPort.postMessage({ killedBy });
// Timers and sockets of tests that failed would keep the thread alive.
process.exit();
