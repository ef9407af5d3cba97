import { compact } from '../../text/index.js';

/** Figures in at most six columns. One that the gateway does not tell is 0. */

/** Seconds as `3.2s`, `45s`, `5m03`, `3h07`, `12d4h`. */
export function timeText(seconds = 0): string {
  const whole = Math.floor(seconds);
  if (seconds < 10) return `${Math.min(seconds, 9.9).toFixed(1)}s`;
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h${two(Math.floor(whole / 60) % 60)}`;
  const days = Math.floor(whole / 86_400);
  return days < 100 ? `${days}d${Math.floor(whole / 3600) % 24}h` : `${countText(days)}d`;
}

export const countText = (count = 0): string => compact(count);

export const shareText = (part = 0, whole = 0): string => (whole > 0 ? `${Math.round((100 * part) / whole)}%` : '-');

const two = (value: number): string => String(value).padStart(2, '0');
