import { modelId, type EngineId, type EngineJoined, type EngineReported } from '../../src/index.js';
import type { EngineConfig } from '../config/index.js';
import { LASTING, type Lasting, type LoadReport } from './adapter.js';
import type { EngineState } from './engine.js';

/** An adapter's values, before checks. */
type Found = { readonly [K in keyof LoadReport]?: number | undefined };

/** Fields of the load that count something. */
const COUNTS = ['waiting', 'running', 'preemptions', 'generatedTokens'] as const;
/** Fields of the load that the scheduler hears of. */
const TOLD = ['waiting', 'kvUsage', 'preemptions'] as const;

const known = (keys: readonly (keyof LoadReport)[], report: Found): LoadReport =>
  Object.fromEntries(keys.flatMap((key) => (report[key] === undefined ? [] : [[key, report[key]]])));

export const lasting = (report: LoadReport): LoadReport => known(LASTING, report);

interface Announced {
  readonly id: EngineId;
  readonly config: EngineConfig;
  readonly load: LoadReport;
  readonly models: ReadonlyMap<string, unknown>;
  readonly state: EngineState;
}

/** Facts for the scheduler before it sends calls to an engine. The configuration overrides the engine's reports. */
export function joined({ id, config, load, models, state }: Announced): EngineJoined {
  const own = known(LASTING, { ...config, windowMax: config.window });
  return {
    type: 'engineJoined',
    engine: id,
    models: [...models.keys()].map(modelId),
    ...(known(LASTING, { ...load, ...own }) as Pick<EngineJoined, Lasting>),
    ...(state === 'probation' && { probation: true }),
  };
}

/** Load report for the scheduler; `undefined` if the scrape holds nothing relevant. */
export function reported({ id }: Announced, load: LoadReport): EngineReported | undefined {
  const told = known(TOLD, load);
  return Object.keys(told).length === 0 ? undefined : { type: 'engineReported', engine: id, ...told };
}

/** Drops absent or invalid values (negative, NaN, a limit of zero), and clamps the share of KV in use to 0..1. */
export function loadReport(found: Found): LoadReport {
  const counts = COUNTS.map((key) => [key, asCount(found[key])]);
  const sizes = LASTING.map((key) => [key, Math.floor(asCount(found[key]) ?? 0) || undefined]);
  const kvUsage = asCount(found.kvUsage);
  const report = Object.fromEntries([...counts, ...sizes, ['kvUsage', kvUsage && Math.min(1, kvUsage)]]) as Found;
  return known([...COUNTS, ...LASTING, 'kvUsage'], report);
}

/** A finite number, zero or more: engines report tokens, requests and milliseconds, which are never negative. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Sum of the known values; `undefined` without any. */
export function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
}

export function mean(values: readonly (number | undefined)[]): number | undefined {
  const total = sum(values);
  return total === undefined ? undefined : total / values.filter((value) => value !== undefined).length;
}
