/** Figures as people read them. */

import { span } from '../text/index.js';

export { brief, compact as tokens, counted, integer as count } from '../text/index.js';

/** '–' for nothing. */
export const duration = (seconds: number | null): string => (seconds === null ? '–' : span(1000 * seconds));

export const percent = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)} %`);

export const ratio = (part: number, all: number): number | null => (all > 0 ? part / all : null);

/** With the day, and without seconds. */
export const dated = (unixSeconds: number): string =>
  new Date(unixSeconds * 1000).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });

export const clock = (unixSeconds: number): string => new Date(unixSeconds * 1000).toLocaleTimeString('en-GB');
