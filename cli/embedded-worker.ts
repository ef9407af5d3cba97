import { parentPort } from 'node:worker_threads';
import { startEngine } from '../sim/index.js';

/** The thread of one embedded engine: reports its URL and serves until it is terminated. */
const { url } = await startEngine({});
parentPort?.postMessage(url);
