/** Three significant digits, four from a thousand on; - for null. */
export function number(value: number | null): string {
  if (value === null) return '-';
  return value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) < 1000 ? 3 : 4 });
}

export const integer = (value: number | null): string =>
  value === null ? '-' : Math.round(value).toLocaleString('en-US');

/** `1 program`, `1,200 programs`. */
export const counted = (count: number, noun: string): string =>
  `${integer(count)} ${Math.round(count) === 1 ? noun : `${noun}s`}`;

/** A duration: `950 ms`, `3.2 s`, `59 s`, `4 min 5 s`, `3 h 20 min`, `5 d 3 h`. */
export function span(ms: number): string {
  const whole = Math.round(ms / 1000);
  if (ms < 0.5) return '0 s';
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (whole < 60) return `${ms < 9950 ? Math.round(ms / 100) / 10 : whole} s`;
  if (whole < 3600) return inTwo(whole, 60, 'min', 1, 's');
  return whole < 86_400 ? inTwo(whole, 3600, 'h', 60, 'min') : inTwo(whole, 86_400, 'd', 3600, 'h');
}

function inTwo(seconds: number, large: number, unit: string, small: number, rest: string): string {
  const more = Math.floor((seconds % large) / small);
  return `${integer(Math.floor(seconds / large))} ${unit}${more > 0 ? ` ${more} ${rest}` : ''}`;
}

/** `950`, `1.2K`, `12.3K`, `4.5M`. */
export const compact = (value: number): string => COMPACT.format(value);
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

export const percent = (value: number | null): string => (value === null ? '-' : `${(100 * value).toFixed(1)} %`);

/** A ratio: two decimals, or as many digits as tell something. */
export function ratio(value: number | null): string {
  if (value === null) return '-';
  return value < 0.1 ? String(Number(value.toPrecision(2))) : value < 10 ? value.toFixed(2) : number(value);
}
