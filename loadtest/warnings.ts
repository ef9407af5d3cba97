import { counted, number, percent } from '../text/index.js';
import { SPREAD_MAX } from './calibrate.js';
import { LEFT } from './disturbance.js';
import type { LoadOptions } from './load.js';
import type { GeneratorHealth } from './meter.js';
import type { TargetFacts } from './preflight.js';

const LATE_MS = 50;
const CPU_SHARE = 0.9;
/** Share of a core below which the load tester was not the bottleneck itself, but was held up by other load. */
const IDLE_SHARE = 0.25;
/** Begins the warning of a machine that held the load tester up. */
export const BUSY = 'This machine was too busy';
/** Deviation in length above which prompts count as wrong. */
const LENGTH_SHARE = 0.01;

/** A time of the run, as it is at real speed. */
const real = (ms: number, timeScale: number) => `${number((timeScale * ms) / 1000)} s`;

interface Ran {
  readonly options: Pick<LoadOptions, 'connections' | 'ignoreEos' | 'timeScale'>;
  readonly targets: readonly TargetFacts[];
  readonly generator: GeneratorHealth;
  readonly programsTooLong: number;
  readonly isTooMany: boolean;
}

/** Reasons to doubt the figures of a run. */
export function warningsOf({ options, targets, generator, programsTooLong, isTooMany }: Ran): string[] {
  const {
    loop_lag_ms: loopLagMs,
    late_send_ms: lateSendMs,
    cpu_share: cpuShare,
    calls_in_flight_max: callsInFlightMax,
  } = generator;
  const warnings: string[] = [];
  if (lateSendMs.p99 > LATE_MS || loopLagMs.p99 > LATE_MS || cpuShare > CPU_SHARE) {
    const [who, remedy] =
      cpuShare > IDLE_SHARE
        ? ['The load tester was a bottleneck', 'Start several, with different seeds.']
        : [BUSY, 'Repeat on an idle machine.'];
    warnings.push(
      `${who}: 1 % of calls went out ${real(lateSendMs.p99, options.timeScale)} late or more (event-loop lag p99 ${real(loopLagMs.p99, options.timeScale)}, ${(100 * cpuShare).toFixed(0)} % of one core). Latencies include this. ${remedy}`,
    );
  }
  if (callsInFlightMax >= options.connections)
    warnings.push(`Calls waited for one of ${options.connections} connections to a target: raise --connections.`);
  if (isTooMany)
    warnings.push('A target had 20,000 running programs, so no more were started: it cannot sustain this rate.');
  if (programsTooLong > 0)
    warnings.push(`Left out: ${counted(programsTooLong, 'program')} with calls longer than a target's context.`);
  const { spread = 0 } = targets[0]?.alone ?? {};
  if (spread > SPREAD_MAX)
    warnings.push(
      `Slowdowns are rough: even the fastest calls before the run differed by ${percent(spread)}. Repeat when nothing else runs.`,
    );
  for (const target of targets) warnings.push(...ofTarget(target, options));
  return warnings;
}

function ofTarget(target: TargetFacts, { ignoreEos, timeScale }: Ran['options']): string[] {
  const { url, isExact, tokenizer, ignoresEos, promptTokensWanted, promptTokensCounted, waitedMs, disturbances } =
    target;
  const speed = speedWarning(target, timeScale);
  const warnings = speed === undefined ? [] : [speed];
  if (waitedMs > LATE_MS)
    warnings.push(
      `${url} was busy before the run: a call waited ${real(waitedMs, timeScale)} there, so slowdowns are too small. Repeat when nothing else runs.`,
    );
  // An engine that left is told first of all.
  if (disturbances.length > 0 && !disturbances.some((text) => LEFT.test(text)))
    warnings.push(
      `At ${url}, during the run: ${disturbances.join('; ')}. The figures are not of this load alone: repeat it undisturbed.`,
    );
  if (!isExact) {
    const how = { tokenize: 'by its tokenizer', usage: 'by the usage of a few calls', guess: 'at one token per word' };
    warnings.push(`Prompt lengths for ${url} are approximate, ${how[tokenizer]}.`);
  }
  if (ignoreEos && !ignoresEos) warnings.push(`${url} rejects ignore_eos: its answers may be too short.`);
  const off = promptTokensCounted / promptTokensWanted - 1;
  if (Math.abs(off) > LENGTH_SHARE)
    warnings.push(
      `Generated prompts for ${url} had ${(100 * off).toFixed(1)} % ${off > 0 ? 'more' : 'fewer'} tokens than wanted, by its count.`,
    );
  return warnings;
}

/** Says that the engine and the load do not run at the same speed. */
export function speedWarning({ url, speed }: Pick<TargetFacts, 'url' | 'speed'>, timeScale: number) {
  if (speed === undefined)
    return timeScale === 1
      ? undefined
      : `${url} tells no speed of its engine: --speed ${timeScale} is right only for a maitred engine --speed ${timeScale}.`;
  if (speed === timeScale) return undefined;
  const off =
    speed > timeScale ? `${number(speed / timeScale)} times too fast` : `${number(timeScale / speed)} times too slow`;
  return `${url} has --speed ${speed}, this load --speed ${timeScale}: calls are ${off} beside arrivals and tools. Give both the same.`;
}
