import { textTable } from '../../../text/index.js';
import type { PolicyName } from '../../../src/index.js';
import type { Live, LiveRun } from './live.js';
import type { Setting } from './setting.js';

/** A figure of one policy: simulated, as the mean and range of several runs, and live. */
export interface Figure {
  readonly simulated: number;
  readonly least: number;
  readonly most: number;
  readonly live: number;
}

/** Figures of one policy on both sides. */
export interface Row {
  readonly policy: PolicyName;
  readonly programSeconds: Figure;
  readonly msPerToken: Figure;
  readonly hits: Figure;
}

export function figureOf(simulated: readonly number[], live: number): Figure {
  const mean = simulated.reduce((sum, value) => sum + value, 0) / simulated.length;
  return { simulated: mean, least: Math.min(...simulated), most: Math.max(...simulated), live };
}

const liveOverSimulated = ({ simulated, live }: Figure): number => live / simulated;

/** Share by which the live run lies outside the range of the simulated ones; 0 or less: inside. */
export const outsideRange = ({ least, most, live }: Figure): number => Math.max(live / most, least / live) - 1;

const figure = (value: number): string => value.toPrecision(3);
const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;

export function agreementTable(rows: readonly Row[]): string {
  const cells = (of: Figure, text: (value: number) => string) => [
    text(of.simulated),
    `${text(of.least)} to ${text(of.most)}`,
    text(of.live),
  ];
  const columns = ['simulated', 'range', 'live'];
  return lines(
    textTable(
      'policy',
      [
        { heading: 'program, s', columns: [...columns, 'ratio'] },
        { heading: 'ms per output token', columns: [...columns, 'ratio'] },
        { heading: 'prefix hits', columns },
      ],
      rows.map(({ policy, programSeconds, msPerToken, hits }) => [
        policy,
        ...cells(programSeconds, figure),
        liveOverSimulated(programSeconds).toFixed(2),
        ...cells(msPerToken, figure),
        liveOverSimulated(msPerToken).toFixed(2),
        ...cells(hits, percent),
      ]),
    ),
  );
}

/** Overhead of the live runs and load of the machine, in real milliseconds. */
export function machineTable(lives: readonly Live[]): string {
  const row = ({ policy, overheadMs, overheadShare, gatewayCores }: LiveRun, { busy, summary }: Live) => {
    const { generator, elapsedMs } = summary;
    return [
      policy,
      (elapsedMs / 1000).toFixed(0),
      figure(overheadMs),
      percent(overheadShare),
      percent(gatewayCores),
      percent(generator.cpuShare),
      figure(generator.loopLagMs.p99),
      figure(generator.lateSendMs.p99),
      percent(busy),
    ];
  };
  return lines(
    textTable(
      'live run',
      [
        { heading: '', columns: ['took, s'] },
        { heading: 'added to a call', columns: ['ms', 'share'] },
        { heading: 'of a core', columns: ['gateway', 'load tester'] },
        { heading: 'load tester, p99', columns: ['loop lag, ms', 'sent late, ms'] },
        { heading: '', columns: ['machine busy'] },
      ],
      lives.flatMap((live) => live.runs.map((run) => row(run, live))),
    ),
  );
}

export function titleOf({ name, programs, ratePerSecond, engines, preset, kvTokens, speed }: Setting): string {
  const calls = programs.reduce((sum, program) => sum + program.calls.length, 0);
  return `${name}: ${programs.length} programs with ${calls} calls, ${ratePerSecond} a second, on ${engines} x ${preset} with ${kvTokens} KV tokens each, ${speed} times as fast as real`; // prettier-ignore
}

const lines = (of: readonly string[]): string => of.join('\n');
