import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import {
  type Case,
  GAP_SECONDS_MAX,
  keyOf,
  RECORDING_NAMES,
  type RecordingName,
  RECORDINGS,
  runCase,
  type RunMeasures,
  type Surroundings,
} from '../../lab/index.js';
import { type AgentProgram, type FormatName, withShortGaps } from '../../workloads/index.js';
import { readRecording } from '../../cli/sim/recording.js';
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
    const programs = wanted.has(name) ? await read(command, join(folder, file), format) : undefined;
    if (programs !== undefined) recordings[name] = programs;
  }
  return recordings;
}

/** Undefined where there is no such file. */
async function read(command: Command, path: string, format: FormatName): Promise<readonly AgentProgram[] | undefined> {
  if (!existsSync(path)) return undefined;
  const { programs } = await readRecording(command, path, { format, kept: 'lengths' }, new Faults());
  return [...withShortGaps(programs, 1000 * GAP_SECONDS_MAX)];
}

/** Folder of recordings; without it the rows of recorded agents are left out. */
const TRACES = '../shared/traces';
const HOOKS = { shouldStop: () => false, onProgress: () => undefined };

/** Runs of cases in virtual time, with the shipped defaults and the recordings that are there. Each is made once. */
export class Runs {
  readonly #made = new Map<string, readonly RunMeasures[]>();

  private constructor(
    private readonly around: Surroundings,
    /** Whether runs have one seed and a tenth of the programs. */
    private readonly isQuick: boolean,
  ) {}

  static async over(names: readonly RecordingName[], isQuick = false): Promise<Runs> {
    const recordings = await readRecordings(new Command('bench'), TRACES, new Set(names));
    return new Runs({ config: loadConfig({}), recordings }, isQuick);
  }

  can = ({ programs }: Case['scenario']): boolean =>
    !('recording' in programs) || this.around.recordings[programs.recording] !== undefined;

  of(scenario: Case['scenario'], setup: Case['setup'], seeds = [1, 2, 3]): readonly RunMeasures[] {
    const one = {
      scenario: { ...scenario, count: this.isQuick ? Math.ceil(scenario.count / 10) : scenario.count },
      setup,
    };
    const key = keyOf(one);
    const made =
      this.#made.get(key) ??
      (this.isQuick ? seeds.slice(0, 1) : seeds).map((seed) => runCase(one, seed, this.around, HOOKS));
    this.#made.set(key, made);
    return made;
  }
}
