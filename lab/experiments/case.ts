import type { BalancerName } from '../../loadbalancer/index.js';
import type { ConditionsName, PresetName, SimPolicyName } from '../../sim/index.js';
import type { WorkloadName } from '../../workloads/index.js';
import type { Deception } from './deceptions.js';

/** Recordings that experiments play, each found where `recordings.ts` says. */
export const RECORDING_NAMES = ['mini-swe-agent', 'weka', 'agentcgroup'] as const;
export type RecordingName = (typeof RECORDING_NAMES)[number];

/** A model and machine, or one changed: the change is named so that tables can say it. */
export type Machine = PresetName | 'ideal-bandwidth' | 'long-context';

/** What is asked of the engines. */
export interface Scenario {
  readonly programs: { readonly workload: WorkloadName } | { readonly recording: RecordingName };
  /** Of a run. */
  readonly count: number;
  readonly ratePerSecond: number;
  readonly engines: number;
  readonly machine: Machine;
  /** What goes wrong. Absent: nothing. */
  readonly conditions?: ConditionsName;
}

/** Keys of the gateway's file, as docs/CONFIG.md names them, that differ from their defaults. */
export type Settings = Readonly<Record<string, number | string | boolean>>;

/** What decides. */
export interface Setup {
  readonly policy: SimPolicyName;
  /** Absent: the default. */
  readonly balancer?: BalancerName;
  readonly settings?: Settings;
  /** What the scheduler is told wrongly. Absent: nothing. */
  readonly deception?: Deception;
}

/** One scenario under one setup: measured once for each seed. */
export interface Case {
  readonly scenario: Scenario;
  readonly setup: Setup;
}

export const cross = (scenarios: readonly Scenario[], setups: readonly Setup[]): Case[] =>
  scenarios.flatMap((scenario) => setups.map((setup) => ({ scenario, setup })));

/** The same for cases that come to the same, whichever experiment asks. */
export const keyOf = ({ scenario, setup }: Case): string => JSON.stringify([sorted(scenario), sorted(setup)]);

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
