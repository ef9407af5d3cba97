/** Figures in at most six columns. One that the gateway does not tell is 0. */

/** Seconds as `3.2s`, `45s`, `5m03`, `3h07`, `12d4h`. */
export function timeText(seconds = 0): string {
  const whole = Math.floor(seconds);
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h${two(Math.floor(whole / 60) % 60)}`;
  const days = Math.floor(whole / 86_400);
  return days < 100 ? `${days}d${Math.floor(whole / 3600) % 24}h` : `${countText(days)}d`;
}

/** Counts as `999`, `12.3k`, `432k`, `1.5M`. */
export function countText(count = 0): string {
  const [unit, scale] = UNITS.find(([, least]) => count >= 0.9995 * least) ?? ['', 1];
  const value = count / scale;
  return scale === 1 ? String(Math.round(count)) : `${value < 99.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

export const counted = (count: number, noun: string): string => `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;

export const shareText = (part = 0, whole = 0): string => (whole > 0 ? `${Math.round((100 * part) / whole)}%` : '-');

const UNITS: readonly [unit: string, scale: number][] = [
  ['T', 1e12],
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
];
const two = (value: number): string => String(value).padStart(2, '0');
