import { z } from 'zod';

export const DAY_MS = 86_400_000;
export const ms = (min: number, max: number) => z.number().min(min).max(max);
export const count = (min: number, max: number) => z.int().min(min).max(max);

/** Where a default comes from, in the words that recur. */
export const STARTING = 'starting value';
export const MEASURED = 'measured: EXPERIMENTS.md, “What the settings are worth”';
export const NONE = 'no default';

/** What docs/CONFIG.md says of a key besides what its type says. */
export interface KeyNote {
  readonly description: string;
  /** Where the default comes from. */
  readonly source: string;
  /** The default in words, where it depends on another key. */
  readonly default?: string;
  /** A change takes effect only when the gateway is started anew. */
  readonly restart?: true;
  /** Never shown; may be given as `env:NAME`. */
  readonly secret?: true;
}

export const note = (description: string, source: string, more: Omit<KeyNote, 'description' | 'source'> = {}) =>
  ({ description, source, ...more }) satisfies KeyNote;
