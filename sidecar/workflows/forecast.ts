import type { ForecastView } from '../../src/index.js';
import type { Declared } from './registry.js';

/**
 * Value of `x-maitred-forecast`: the source of the program's forecast and its length, and the reason why a named node
 * says nothing.
 * @param forecast undefined: nothing is foreseen; `off`: nothing ever is
 */
export function forecastHeader(forecast: ForecastView | 'off' | undefined, declared: Declared | undefined): string {
  const parts: string[] = [];
  if (forecast === undefined || forecast === 'off') parts.push(forecast ?? 'none');
  else {
    parts.push(forecast.source);
    if (!forecast.used) parts.push('unused');
    if (Number.isFinite(forecast.remainingMs)) parts.push(`remaining-ms=${Math.round(forecast.remainingMs)}`);
  }
  if (declared?.problem !== undefined) parts.push(`problem=${declared.problem}`);
  return parts.join('; ');
}
