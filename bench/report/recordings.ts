import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import {
  GAP_SECONDS_MAX,
  RECORDING_NAMES,
  type RecordingName,
  RECORDINGS,
  type Surroundings,
} from '../../lab/index.js';
import { withShortGaps } from '../../workloads/index.js';
import { readRecording } from '../../cli/recording.js';
import { Faults } from '../../cli/trace-file.js';
import { loadConfig } from '../../sidecar/config/load.js';

/** Reads the recordings in a folder; malformed records are reported on stderr. */
export async function readRecordings(
  command: Command,
  folder: string,
  wanted: ReadonlySet<RecordingName>,
): Promise<Surroundings['recordings']> {
  const recordings: Record<string, Surroundings['recordings']['weka']> = {};
  for (const name of RECORDING_NAMES) {
    const { file, format } = RECORDINGS[name];
    const path = join(folder, file);
    if (!wanted.has(name) || !existsSync(path)) continue;
    const { programs } = await readRecording(command, path, { format, kept: 'lengths' }, new Faults());
    recordings[name] = [...withShortGaps(programs, 1000 * GAP_SECONDS_MAX)];
  }
  return recordings;
}

/** A run is never stopped, and tells nothing on the way. */
export const HOOKS = { shouldStop: () => false, onProgress: () => undefined };

/** Folder of recordings; without it the rows of recorded agents are left out. */
const TRACES = '../shared/traces';

/** The shipped defaults, and the recordings that are there. */
export async function surroundings(names: readonly RecordingName[]): Promise<Surroundings> {
  return { config: loadConfig({}), recordings: await readRecordings(new Command('bench'), TRACES, new Set(names)) };
}
