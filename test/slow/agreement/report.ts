import { textTable } from '../../../text/index.js';
import type { PolicyName } from '../../../src/index.js';
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
  return textTable(
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
  ).join('\n');
}

export function titleOf({ name, programs, ratePerSecond, engines, preset, kvTokens, speed }: Setting): string {
  const calls = programs.reduce((sum, program) => sum + program.calls.length, 0);
  return `${name}: ${programs.length} programs with ${calls} calls, ${ratePerSecond} a second, on ${engines} x ${preset} with ${kvTokens} KV tokens each, ${speed} times as fast as real`;
}
