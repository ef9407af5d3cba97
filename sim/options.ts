import { z } from 'zod';
import { HOST_WRITES, hostOf, type HostSettings } from './engine/host-tier.js';
import { presetSchema } from './engine/preset-file.js';
import { DEFAULT_PRESET, PRESET_NAMES, PRESETS, type Preset } from './engine/presets.js';
import { isFault } from './server/faults.js';
import type { Script } from './text/answer.js';

/**
 * Every option of the stand-in engine, with its unit and default. Unknown options are refused; numbers are
 * range-checked.
 */
const optionsSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  port: z.int().min(0).max(65_535).default(0).describe('Port to listen on; 0 picks a free one.'),
  preset: z
    .union([z.enum(PRESET_NAMES), presetSchema])
    .default(DEFAULT_PRESET)
    .describe('Model and machine that set step times and sizes: one of ours by name, or one of your own.'),
  speed: z.number().min(0.001).max(1e6).default(1).describe('Times as fast as the machine of the preset.'),
  slots: z.int().min(1).max(100_000).optional().describe('Sequences a step may hold; absent: the preset’s.'),
  kvTokens: z.int().min(16).max(1e8).optional().describe('Tokens the KV cache holds; absent: the preset’s.'),
  hostTokens: z
    .int()
    .min(0)
    .max(1e10)
    .optional()
    .describe('Tokens that host memory keeps of what leaves the KV cache; absent or 0: none.'),
  hostWrites: z
    .enum(HOST_WRITES)
    .default('computed')
    .describe('Copy a prompt when it is computed, as vLLM does, or what the KV cache evicts.'),
  batchTokens: z.int().min(1).max(1e6).optional().describe('Tokens a step may compute; absent: the preset’s.'),
  maxModelLen: z.int().min(2).max(1e8).optional().describe('Longest prompt and answer together; at most kvTokens.'),
  blockSize: z.int().min(1).max(1024).default(16).describe('Tokens of a KV block.'),
  models: z.array(z.string().min(1)).min(1).optional().describe('Names it serves; absent: the preset’s model.'),
  maxQueued: z.int().min(1).max(1e6).default(100_000).describe('Waiting requests above which it answers 503.'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(0)
    .describe('Varies the text and length of answers.'),
  apiKey: z.string().min(1).optional().describe('Bearer token or x-api-key that /v1 demands.'),
  faults: z
    .array(z.string().refine(isFault, 'no such fault'))
    .max(100_000)
    .default([])
    .describe('Faults of the first calls, one each.'),
  recordsMax: z.int().min(0).max(1e6).default(1000).describe('Latest requests that stats() tells of.'),
  recordBodies: z.boolean().default(false).describe('Keep their bodies too.'),
  script: z
    .custom<Script>((value) => typeof value === 'function')
    .optional()
    .describe('Gives answers to conversations.'),
});

type NumberOption =
  | 'port'
  | 'speed'
  | 'slots'
  | 'kvTokens'
  | 'hostTokens'
  | 'batchTokens'
  | 'maxModelLen'
  | 'blockSize'
  | 'maxQueued'
  | 'seed';

export function rangeOf(name: NumberOption) {
  const { innerType } = optionsSchema.shape[name].def;
  return {
    least: innerType.minValue ?? -Infinity,
    most: innerType.maxValue ?? Infinity,
    isWhole: innerType.format === 'safeint',
  };
}

export type EngineOptions = z.input<typeof optionsSchema>;
export type Settings = Omit<z.output<typeof optionsSchema>, 'preset'> & {
  readonly preset: Preset;
  /** Absent: no host tier. */
  readonly tier: HostSettings | undefined;
};

/** @throws TypeError that names each bad option. */
export function readOptions(options: EngineOptions): Settings {
  const result = optionsSchema.safeParse(options);
  if (!result.success) throw new TypeError(`bad engine options: ${z.prettifyError(result.error)}`);
  const { preset: named, slots, kvTokens, batchTokens, maxModelLen, blockSize } = result.data;
  const own = Object.entries({ slots, kvTokens, batchTokens, maxModelLen }).filter(([, value]) => value !== undefined);
  const preset: Preset = { ...(typeof named === 'string' ? PRESETS[named] : named), ...Object.fromEntries(own) };
  if (preset.kvTokens < 2 * blockSize) {
    throw new TypeError('kvTokens must hold at least two blocks');
  }
  if (kvTokens !== undefined && maxModelLen !== undefined && maxModelLen > kvTokens) {
    throw new TypeError('maxModelLen must not exceed kvTokens');
  }
  return { ...result.data, preset, tier: hostOf(preset, result.data) };
}
