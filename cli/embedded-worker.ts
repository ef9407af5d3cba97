import { parentPort } from 'node:worker_threads';
import { startEngine } from '../sim/index.js';

/** The thread of one embedded engine: serves until it is terminated, and says where. */
const { url } = await startEngine({});
parentPort?.postMessage(url);
