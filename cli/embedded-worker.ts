import { parentPort, workerData } from 'node:worker_threads';
import { DEFAULT_PRESET, PRESETS, startEngine } from '../sim/index.js';

export type Ready = Readonly<Record<'url' | 'model', string>>;

/** The thread of one embedded engine serves until it is terminated. */
const { url } = await startEngine({ kvTokens: workerData as number });
parentPort?.postMessage({ url, model: PRESETS[DEFAULT_PRESET].model } satisfies Ready);
