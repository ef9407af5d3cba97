import type { LoadReport } from './adapter.js';

/** An adapter's values, before checks. */
type Found = { readonly [K in keyof LoadReport]?: number | undefined };

/** Fields that describe the engine, not its load. */
const LASTING = ['capacityTokens', 'hostTokens', 'hostTokensPerSecond', 'contextTokensMax', 'windowMax'] as const;

/** The part of a report that describes the engine. */
export function lasting(report: LoadReport): LoadReport {
  return Object.fromEntries(LASTING.flatMap((key) => (report[key] === undefined ? [] : [[key, report[key]]])));
}

/** Drops absent or invalid values (negative, NaN, a limit of zero), and clamps the share of KV in use to 0..1. */
export function loadReport(found: Found): LoadReport {
  const report: { -readonly [K in keyof LoadReport]: LoadReport[K] } = {};
  for (const key of ['waiting', 'running', 'preemptions', 'generatedTokens'] as const) {
    const value = asCount(found[key]);
    if (value !== undefined) report[key] = value;
  }
  for (const key of LASTING) {
    const value = Math.floor(asCount(found[key]) ?? 0);
    if (value >= 1) report[key] = value;
  }
  const kvUsage = asCount(found.kvUsage);
  if (kvUsage !== undefined) report.kvUsage = Math.min(1, kvUsage);
  return report;
}

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
