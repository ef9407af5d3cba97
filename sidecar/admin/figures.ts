import { wallMs } from '../watch/wall-clock.js';

/** Unix time of a moment on the driver's clock. */
export const unixSeconds = (ms: number): number => seconds(wallMs(ms));

export const limitOf = (tokens = Infinity): number | null => (tokens === Infinity ? null : Math.floor(tokens));

export const secondsOr = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : seconds(ms);

export const seconds = (ms: number): number => Math.round(ms) / 1000;

const NAME_CHARS = 60;

export const named = (text: string): string =>
  JSON.stringify(text.length > NAME_CHARS ? `${text.slice(0, NAME_CHARS)}…` : text);

export const percent = (share: number): string => `${Math.round(1000 * share) / 10} %`;
export const count = (value: number): string => Math.round(value).toLocaleString('en-US');
/** `1 call`, `1,200 calls`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${Math.round(value) === 1 ? '' : 's'}`;
export const tokens = (value: number): string => `${count(value)} tokens`;

/** A duration of the past or the near future. */
export function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (ms >= 0.5 && seconds < 0.1) return `${Math.round(ms)} ms`;
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
