import type { Command } from 'commander';
import { type LoadOptions, seedOfRun } from '../../loadtest/index.js';
import type { ReporterOptions } from '../../loadtest/report/index.js';
import type { Arrivals } from '../../workloads/index.js';
import { checkWritable } from '../files.js';
import {
  countOf,
  programsOf,
  readArrivals,
  readSlo,
  readSource,
  type ProgramSource,
  type SourceFlags,
} from '../sim/source.js';
import { type Values, valuesText } from '../sim/axes.js';
import { secretIn } from '../options.js';
import type { Faults } from '../trace-file.js';
import type { LoadFlags } from './flags.js';

type OneLoad = Omit<LoadFlags, 'rate' | 'concurrency'> & SourceFlags;

export type Load = Readonly<Awaited<ReturnType<typeof readLoads>>[0]>;

/**
 * The loads that the flags describe, one after the other; ends the command if they are inconsistent.
 * @throws ConfigError, TraceError or Error about the files that they name
 */
export async function readLoads(command: Command, flags: LoadFlags, faults: Faults) {
  if (flags.recordedAnswers && flags.trace === undefined) command.error('--recorded-answers needs a --trace');
  const { target: targets } = flags;
  const slos = flags.slo.map((text) => readSlo(command, text, targets.length));
  if (flags.json !== undefined && flags.json !== '-') checkWritable(command, flags.json);
  const apiKey = flags.key === undefined ? undefined : secretIn(command, '--key', flags.key);
  const source = await readSource(command, flags, 'words', faults);
  const { rate: rates = [], concurrency: counts = [] } = flags;
  const isSweep = rates.length + counts.length > 1;
  const load = (one: Pick<Values, 'rate' | 'concurrency'>) => {
    const own = { ...flags, rate: one.rate, concurrency: one.concurrency };
    const arrivals = readArrivals(command, own, source);
    const options = optionsOf(own, source, arrivals, apiKey);
    const report: ReporterOptions = {
      ...flags,
      settings: settingsOf(own, source, arrivals, options.maxPrograms),
      targets,
      isClosed: arrivals.type === 'closed',
      slos,
      out: process.stdout,
      err: process.stderr,
    };
    return { title: titleOf(own, source, isSweep ? undefined : arrivals), source, options, report };
  };
  const [first = load({}), ...others] = [
    ...rates.map((rate) => load({ rate })),
    ...counts.map((concurrency) => load({ concurrency })),
  ];
  return [first, ...others] as const;
}

function optionsOf(flags: OneLoad, source: ProgramSource, arrivals: Arrivals, apiKey?: string): LoadOptions {
  // Only the duration ends the run, unless the programs end before.
  const isEndless = flags.programs === undefined && flags.duration !== undefined && arrivals.type !== 'trace';
  return {
    ...flags,
    targets: flags.target,
    programs: (run) => programsOf(source, arrivals, seedOfRun(flags.seed, run)),
    maxPrograms: isEndless ? Infinity : countOf(flags, source, arrivals),
    runs: flags.repeat,
    durationMs: (flags.duration ?? Infinity) / flags.speed,
    arrivals,
    timeScale: flags.speed,
    gapMsMax: flags.gapMax ?? Infinity,
    apiKey,
    timeoutMs: flags.timeout,
    ownsTargets: flags.iOwnThisTarget,
    baseline: flags.baseline ? 'estimate' : 'none',
  };
}

/** @param arrivals absent: they differ */
function titleOf(flags: OneLoad, source: ProgramSource, arrivals?: Arrivals): string {
  const of = source.type === 'workload' ? source.workload : `${source.file} (${source.format})`;
  const factor = flags.speed;
  const speed = factor === 1 ? [] : [`${factor} times as fast as real (all figures are those at real speed)`];
  return [
    of,
    ...(arrivals === undefined ? [] : [comesHow(arrivals)]),
    ...speed,
    `seed ${flags.seed}`,
    `${flags.api} API`,
    `identity ${flags.identity}`,
  ].join(', ');
}

function comesHow(arrivals: Arrivals): string {
  if (arrivals.type === 'closed') return valuesText({ concurrency: arrivals.concurrency });
  if (arrivals.type === 'open')
    return `${valuesText({ rate: arrivals.ratePerSecond })}${arrivals.cv === 1 ? '' : ` (cv ${arrivals.cv})`}`;
  return arrivals.speed === 1 ? 'arrivals of the trace' : `arrivals of the trace, ${arrivals.speed} times as fast`;
}

function settingsOf(flags: OneLoad, source: ProgramSource, arrivals: Arrivals, programs: number) {
  return {
    ...(source.type === 'workload' ? { workload: source.workload } : { trace: source.file, format: source.format }),
    arrivals: arrivals.type,
    rate_per_second: arrivals.type === 'open' ? arrivals.ratePerSecond : null,
    cv: arrivals.type === 'open' ? arrivals.cv : null,
    concurrency: arrivals.type === 'closed' ? arrivals.concurrency : null,
    programs: Number.isFinite(programs) ? programs : null,
    duration_seconds: flags.duration === undefined ? null : flags.duration / 1000,
    repeat: flags.repeat ?? null,
    margin: flags.margin,
    trace_speed: arrivals.type === 'trace' ? arrivals.speed : null,
    speed: flags.speed,
    gap_max_seconds: flags.gapMax === undefined ? null : flags.gapMax / 1000,
    api: flags.api,
    stream: flags.stream,
    identity: flags.identity,
    model: flags.model ?? null,
    seed: flags.seed,
    ignore_eos: flags.ignoreEos,
    recorded_answers: flags.recordedAnswers,
    timeout_seconds: flags.timeout / 1000,
    connections: flags.connections,
    baseline: flags.baseline,
  };
}
