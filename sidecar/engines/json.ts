/** A finite number, zero or more: engines report tokens, requests and milliseconds, which are never negative. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Sum of the known values; `undefined` without any. */
export function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
}

/** Mean of the known values; `undefined` without any. */
export function mean(values: readonly (number | undefined)[]): number | undefined {
  const total = sum(values);
  return total === undefined ? undefined : total / values.filter((value) => value !== undefined).length;
}
