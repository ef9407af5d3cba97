/** Three significant digits, four from a thousand on; - for null. */
export function number(value: number | null): string {
  if (value === null) return '-';
  return value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) < 1000 ? 3 : 4 });
}

/** A time in the unit that people would use for it; its input is seconds. */
export function time(seconds: number | null): string {
  if (seconds === null) return '-';
  if (seconds < 1) return `${number(1000 * seconds)} ms`;
  if (seconds < 120) return `${number(seconds)} s`;
  return seconds < 7200 ? `${number(seconds / 60)} min` : `${number(seconds / 3600)} h`;
}

/** A rate in the unit in which it is at least one, down to an hour; its input is per second. */
export function rate(perSecond: number | null): string {
  if (perSecond === null) return '-';
  if (perSecond >= 1) return `${number(perSecond)} a second`;
  return perSecond >= 1 / 60 ? `${number(60 * perSecond)} a minute` : `${number(3600 * perSecond)} an hour`;
}

export const integer = (value: number | null): string => (value === null ? '-' : Math.round(value).toLocaleString('en-US')); // prettier-ignore

/** `1 program`, `1,200 programs`. */
export const counted = (count: number, noun: string): string => `${integer(count)} ${count === 1 ? noun : `${noun}s`}`;

export const percent = (value: number | null): string => (value === null ? '-' : `${(100 * value).toFixed(1)} %`);

/** A ratio with a fixed number of decimals for its magnitude, so that the ratios of a column compare. */
export function ratio(value: number | null): string {
  if (value === null) return '-';
  return value < 0.1 ? value.toPrecision(2) : value < 1000 ? value.toFixed(2) : number(value);
}
