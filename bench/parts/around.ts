import { Command } from 'commander';
import { readRecordings } from '../report/recordings.js';
import type { RecordingName, Surroundings } from '../../lab/index.js';
import { loadConfig } from '../../sidecar/config/load.js';

/** A run is never stopped, and tells nothing on the way. */
export const HOOKS = { shouldStop: () => false, onProgress: () => undefined };

/** Folder of recordings; without it the rows of recorded agents are left out. */
const TRACES = '../shared/traces';

/** The shipped defaults, and the recordings that are there. */
export async function surroundings(names: readonly RecordingName[]): Promise<Surroundings> {
  return { config: loadConfig({}), recordings: await readRecordings(new Command('bench'), TRACES, new Set(names)) };
}
