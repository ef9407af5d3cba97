/** Figures as people read them. */

const whole = new Intl.NumberFormat('en');

export const count = (value: number): string => whole.format(Math.round(value));

/** `1 program`, `1,200 programs`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${Math.round(value) === 1 ? '' : 's'}`;

/** `950 ms`, `3.2 s`, `59 s`, `4m 05s`, `3h 20m`, `5d 3h`; '–' for nothing. */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 0.0005) return '0 s';
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const rounded = Math.round(seconds);
  const [minutes, hours] = [Math.floor(rounded / 60), Math.floor(rounded / 3600)];
  if (hours === 0) return rounded % 60 === 0 ? `${minutes}m` : `${minutes}m ${two(rounded % 60)}s`;
  return hours < 24 ? `${hours}h ${two(minutes % 60)}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

const two = (value: number): string => String(value).padStart(2, '0');

const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/** `950`, `1.2K`, `12K`, `4.5M`. */
export const tokens = (value: number): string => compact.format(value);

export const percent = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)} %`);

export const ratio = (part: number, all: number): number | null => (all > 0 ? part / all : null);

/** With the day, and without seconds. */
export const dated = (unixSeconds: number): string =>
  new Date(unixSeconds * 1000).toLocaleString('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }); // prettier-ignore

export const clock = (unixSeconds: number): string => new Date(unixSeconds * 1000).toLocaleTimeString('en-GB');

/** Names come from clients and may be long. The whole name is in the element's title. */
export const brief = (name: string, charsMax = 60): string =>
  name.length <= charsMax ? name : `${name.slice(0, charsMax - 9)}…${name.slice(-8)}`;
