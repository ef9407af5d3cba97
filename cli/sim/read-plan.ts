import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { ConfigError } from '../../sidecar/config/problems.js';
import { didYouMean } from '../../sidecar/config/similar.js';
import { WorkloadError } from '../../sim/workloads/problems.js';
import type { Arrivals } from '../../sim/workloads/workload.js';
import { openWorkload, WORKLOAD_NAMES } from '../../sim/workloads/workloads.js';
import type { Faults } from '../trace-file.js';
import type { SimFlags } from './flags.js';
import type { GeneratedSource, Plan } from './plan.js';
import { readRecording, type Recording } from './recording.js';
import { readScheduling } from './scheduling.js';

const PROGRAMS_DEFAULT = 300;

/**
 * The plan that the flags make; ends the command where they make none.
 * @throws ConfigError, TraceError and Error of what the files they name are not
 */
export async function readPlan(command: Command, flags: SimFlags, faults: Faults): Promise<Plan> {
  const { config, engines } = readScheduling(flags);
  const source = await readSource(command, flags, faults);
  const arrivals = readArrivals(command, flags, source);
  const { name, preset } = flags.preset;
  return {
    source,
    arrivals,
    programs: countOf(flags, source, arrivals),
    engines: flags.engines ?? Math.max(1, engines),
    preset: name,
    engine: {
      preset: { ...preset, kvTokens: flags.kvTokens ?? preset.kvTokens },
      blockSize: 16,
      scheduling: flags.enginePriority ? 'priority' : 'fcfs',
    },
    config,
    policies: flags.policy ?? [config.policy.name],
    balancers: flags.balancer ?? [config.balancer.name],
    seeds: flags.seed ?? [0],
  };
}

async function readSource(
  command: Command,
  { workload, trace, format }: SimFlags,
  faults: Faults,
): Promise<GeneratedSource | Recording> {
  if (trace !== undefined) {
    const recording = await readRecording(command, trace, format, faults);
    if (recording.programs.length === 0) throw new Error(`${trace}: no program in it`);
    return recording;
  }
  if (workload === undefined) return command.error('name the programs: --workload or --trace');
  if (format !== undefined) command.error('--format is of a --trace');
  if (!WORKLOAD_NAMES.some((name) => name === workload) && statSync(workload, { throwIfNoEntry: false }) === undefined)
    command.error(
      `--workload: ${workload} is none of ${WORKLOAD_NAMES.join(', ')}, nor a file${didYouMean(workload, WORKLOAD_NAMES)}`,
    );
  try {
    openWorkload(workload);
  } catch (error) {
    // Told as what is wrong with any file that a command line names.
    throw error instanceof WorkloadError ? new ConfigError(error.problems) : error;
  }
  return { type: 'workload', workload };
}

function readArrivals(command: Command, flags: SimFlags, source: GeneratedSource | Recording): Arrivals {
  const { rate, cv, concurrency, traceTimed, traceSpeed } = flags;
  const isTold = source.type === 'trace' && source.programs.every(({ arrivalMs }) => arrivalMs !== undefined);
  if (rate !== undefined || concurrency !== undefined) {
    if (traceSpeed !== undefined) command.error('--trace-speed is of arrivals that the trace sets');
    if (concurrency !== undefined) return { type: 'closed', concurrency };
    if (rate !== undefined) return { type: 'open', ratePerSecond: rate, cv: cv ?? 1 };
  }
  if (cv !== undefined) command.error('--cv is of arrivals at a --rate');
  if (isTold) return { type: 'trace', speed: traceSpeed ?? 1 };
  if (traceTimed || traceSpeed !== undefined)
    command.error(source.type === 'trace' ? `${source.file} does not say when its programs arrive; --rate or --concurrency does` : '--trace-speed is of a --trace'); // prettier-ignore
  return command.error('say when programs arrive: --rate or --concurrency');
}

/** A recording that sets the arrivals has no more programs than it has. */
function countOf({ programs }: SimFlags, source: GeneratedSource | Recording, arrivals: Arrivals): number {
  if (source.type === 'workload') return programs ?? PROGRAMS_DEFAULT;
  const recorded = source.programs.length;
  return arrivals.type === 'trace' ? Math.min(programs ?? recorded, recorded) : (programs ?? recorded);
}
