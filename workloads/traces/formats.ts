import { agentCgroup } from './agentcgroup.js';
import { azure } from './azure.js';
import { eventLog } from './event-log.js';
import { maitred } from './maitred.js';
import { miniSweAgent } from './mini-swe-agent.js';
import { mooncake } from './mooncake.js';
import type { Reader } from './records.js';
import { tauBench } from './tau-bench.js';
import { weka } from './weka.js';

export interface TraceFormat {
  /** Keys of its records; no other format has all of them. */
  readonly keys: readonly string[];
  readonly read: Reader;
}

/** Every readable format. The default is the first format whose keys the file's first records have. */
export const FORMATS = {
  maitred: { keys: ['maitredProgram'], read: maitred },
  'event-log': { keys: ['maitredEventLog'], read: eventLog },
  weka: { keys: ['requests', 'block_size'], read: weka },
  'mini-swe-agent': { keys: ['messages', 'instance_id'], read: miniSweAgent },
  agentcgroup: { keys: ['session', 'calls'], read: agentCgroup },
  'tau-bench': { keys: ['traj', 'task_id'], read: tauBench },
  mooncake: { keys: ['input_length', 'hash_ids'], read: mooncake },
  azure: { keys: ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'], read: azure },
} as const satisfies Record<string, TraceFormat>;

export type FormatName = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** The format that a record looks like; undefined: none of them. */
export function formatOf(record: unknown): FormatName | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  return FORMAT_NAMES.find((name) => FORMATS[name].keys.every((key) => Object.hasOwn(record, key)));
}
