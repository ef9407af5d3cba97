import {
  type ClusterOptions,
  type ConditionsName,
  type PresetName,
  type SimBalancerName,
  type SimPolicyName,
  type Conditions,
} from '../../sim/index.js';
import type { WorkloadName, FormatName } from '../../workloads/index.js';

/** Recordings that experiments replay; `RECORDINGS` says where each is found. */
export const RECORDING_NAMES = ['mini-swe-agent', 'weka', 'agentcgroup'] as const;
export type RecordingName = (typeof RECORDING_NAMES)[number];

/** A model on a machine, or a changed one, named so that tables can show the change. */
export type Machine = PresetName | `long-context${'' | ':low' | ':high'}`;

export interface Scenario {
  readonly programs: { readonly workload: WorkloadName } | { readonly recording: RecordingName };
  readonly count: number;
  readonly ratePerSecond: number;
  readonly engines: number;
  readonly machine: Machine;
  readonly conditions?: ConditionsName;
  readonly cluster?: ClusterOptions;
  /** Whether programs are also run alone, for slowdowns. Absent: no, as it takes another run of each. */
  readonly alone?: true;
}

/** Keys of the gateway's file, as docs/CONFIG.md names them, that differ from their defaults. */
export type Settings = Readonly<Record<string, number | string | boolean>>;

export interface Setup {
  readonly policy: SimPolicyName;
  /** Absent: the default. */
  readonly balancer?: SimBalancerName;
  readonly settings?: Settings;
  /** How wrong clients' declarations are. Absent: not at all. */
  readonly declarations?: Partial<NonNullable<Conditions['declarations']>>;
}

/** One scenario under one setup: measured once for each seed. */
export interface Case {
  readonly scenario: Scenario;
  readonly setup: Setup;
}

export const cross = (scenarios: readonly Scenario[], setups: readonly Setup[]): Case[] =>
  scenarios.flatMap((scenario) => setups.map((setup) => ({ scenario, setup })));

export const keyOf = ({ scenario, setup }: Case): string => JSON.stringify([sorted(scenario), sorted(setup)]);

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

export const RECORDINGS: Readonly<Record<RecordingName, { readonly file: string; readonly format: FormatName }>> = {
  'mini-swe-agent': {
    file: 'mini-swe-agent/gemini-3-pro_swebench-verified_first60.jsonl.gz',
    format: 'mini-swe-agent',
  },
  agentcgroup: { file: 'agentcgroup/timings_first40.jsonl.gz', format: 'agentcgroup' },
  weka: { file: 'weka-claude-code/traces_first50.jsonl.gz', format: 'weka' },
};

/** Longer pauses are cut to this length: their people went to lunch, or home. */
export const GAP_SECONDS_MAX = 60;
