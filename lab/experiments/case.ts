import type {
  ClusterOptions,
  ConditionsName,
  Eviction,
  PresetName,
  SimBalancerName,
  SimPolicyName,
} from '../../sim/index.js';
import type { WorkloadName } from '../../workloads/index.js';
import type { Deception } from './deceptions.js';

/** Recordings that experiments replay; `recordings.ts` says where each is found. */
export const RECORDING_NAMES = ['mini-swe-agent', 'weka', 'agentcgroup'] as const;
export type RecordingName = (typeof RECORDING_NAMES)[number];

/** A model on a machine, or a changed one, named so that tables can show the change. */
export type Machine = PresetName | `long-context${'' | ':low' | ':high'}`;

/** The load on the engines. */
export interface Scenario {
  readonly programs: { readonly workload: WorkloadName | `${string}.yaml` } | { readonly recording: RecordingName };
  /** Coefficient of variation of the tools' times, all of one mean (`tool-spread.ts`). Absent: those of the programs. */
  readonly toolCv?: number;
  /** Programs of a run. */
  readonly count: number;
  readonly ratePerSecond: number;
  readonly engines: number;
  readonly machine: Machine;
  /** Tokens in each engine's KV cache; absent: the machine's. */
  readonly kvTokens?: number;
  /** Tokens that each engine's host memory keeps of what leaves the KV cache; absent: none. */
  readonly hostTokens?: number;
  /** Faults and client behaviour. Absent: none. */
  readonly conditions?: ConditionsName;
  /** Several gateways; absent: one. */
  readonly cluster?: ClusterOptions;
  /** Whether programs are also run alone, for slowdowns. Absent: no, as it takes another run of each. */
  readonly alone?: true;
}

/** Keys of the gateway's file, as docs/CONFIG.md names them, that differ from their defaults. */
export type Settings = Readonly<Record<string, number | string | boolean>>;

/** The scheduler under test. */
export interface Setup {
  readonly policy: SimPolicyName;
  /** Absent: the default. */
  readonly balancer?: SimBalancerName;
  readonly settings?: Settings;
  /** Whether idle contexts are held by clairvoyance, instead of `admission.retention`. Absent: no. */
  readonly belady?: true;
  /** Order in which engines evict. Absent: the default, `lru`. */
  readonly eviction?: Eviction;
  /** False information given to the scheduler. Absent: none. */
  readonly deception?: Deception;
}

/** One scenario under one setup: measured once for each seed. */
export interface Case {
  readonly scenario: Scenario;
  readonly setup: Setup;
}

export const cross = (scenarios: readonly Scenario[], setups: readonly Setup[]): Case[] =>
  scenarios.flatMap((scenario) => setups.map((setup) => ({ scenario, setup })));

/** A key that is equal for equal cases, whichever experiment asks. */
export const keyOf = ({ scenario, setup }: Case): string => JSON.stringify([sorted(scenario), sorted(setup)]);

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
