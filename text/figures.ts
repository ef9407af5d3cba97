/** Three significant digits, four from a thousand on; - for null. */
export function number(value: number | null): string {
  if (value === null) return '-';
  return value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) < 1000 ? 3 : 4 });
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
