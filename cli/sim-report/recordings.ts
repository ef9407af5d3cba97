import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { RECORDING_NAMES, type RecordingName } from '../../sim/experiments/case.js';
import { GAP_SECONDS_MAX, RECORDINGS } from '../../sim/experiments/recordings.js';
import type { Surroundings } from '../../sim/experiments/run-case.js';
import { withShortGaps } from '../../sim/workloads/recorded.js';
import { readRecording } from '../recording.js';
import { Faults } from '../trace-file.js';

/** Those of the recordings that a folder has; what is malformed in them is told on stderr. */
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
