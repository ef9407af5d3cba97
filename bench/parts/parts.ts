import type { Case } from '../../lab/index.js';

type Setup = Case['setup'];
type Settings = NonNullable<Setup['settings']>;

/** Loads of the table. Recorded programs are left out where ../shared/traces is absent. */
export type LoadName = 'agents' | 'coding' | 'mixed' | 'chat' | 'react' | 'fleet' | 'tenants';

/** A part of the product that a setting switches off or on. */
export interface Part {
  readonly name: string;
  /** Files and folders that serve only this part. */
  readonly files: readonly string[];
  /** The schedulers compared: settings beside the defaults. */
  readonly without: Setup;
  readonly with: Setup;
  readonly loads: readonly LoadName[];
}

const plas = (settings: Settings = {}, more: Partial<Setup> = {}): Setup => ({ policy: 'plas', settings, ...more });
const DEFAULT = plas();
/** A day: no call ever reaches the limit. */
const NEVER = 86_400_000;

export const PARTS: readonly Part[] = [
  {
    name: 'gate (working set, claims, cache contents)',
    files: ['src/kv/working-set.ts', 'src/kv/idle-claims.ts', 'src/kv/cache-contents.ts', 'src/kv/context.ts'],
    without: plas({ 'admission.gate': 0 }),
    with: DEFAULT,
    loads: ['agents', 'coding', 'mixed', 'fleet'],
  },
  {
    name: 'order by the rest (without: fcfs-window)',
    files: ['src/policies/plas.ts', 'src/policies/mlfq-levels.ts', 'src/programs/completion-index.ts', 'src/programs/lessons.ts'], // prettier-ignore
    without: { policy: 'fcfs-window' },
    with: DEFAULT,
    loads: ['agents', 'coding', 'mixed', 'react', 'fleet'],
  },
  {
    name: 'knee (step time, batch)',
    files: ['src/policies/admission-knee.ts', 'src/engines/step-time.ts', 'src/engines/batch.ts', 'src/placement/joining.ts'], // prettier-ignore
    without: plas({ 'admission.batching': 'none' }),
    with: DEFAULT,
    loads: ['mixed', 'react', 'fleet'],
  },
  {
    name: 'anti-starvation (escalation)',
    files: ['src/placement/escalator.ts', 'src/programs/escalation.ts'],
    without: plas({ 'starvation.beta': 1e6, 'starvation.waitMsMax': NEVER, 'timeouts.queueMs': 8 * NEVER }),
    with: DEFAULT,
    loads: ['agents', 'mixed', 'fleet'],
  },
  {
    name: 'context forecast',
    files: ['src/kv/context-forecast.ts', 'src/kv/context-growth.ts'],
    without: plas({ 'admission.forecast': 'none' }),
    with: DEFAULT,
    loads: ['agents', 'coding', 'chat'],
  },
  {
    name: 'shared prefixes',
    files: ['src/kv/shared-prefixes.ts'],
    without: plas({ 'admission.sharedPrefixes': 'none' }),
    with: DEFAULT,
    loads: ['agents', 'coding', 'fleet'],
  },
  {
    name: 'learnt retention (without: half-life)',
    files: ['src/policies/retention-learnt.ts'],
    without: plas({ 'admission.retention': 'half-life' }),
    with: DEFAULT,
    loads: ['agents', 'coding', 'chat', 'fleet'],
  },
  {
    name: 'first prompts ranked by length (countPrompt)',
    files: [],
    without: plas({ 'policy.countPrompt': false }),
    with: DEFAULT,
    loads: ['agents', 'mixed', 'fleet'],
  },
  {
    name: 'foresight: declared by clients',
    files: ['src/foresight', 'sidecar/calls/declaration.ts'],
    without: DEFAULT,
    with: plas({ 'policy.foresight': 'declared' }),
    loads: ['agents', 'mixed', 'fleet'],
  },
  {
    name: 'program affinity (without: least-loaded)',
    files: ['loadbalancer/program-affinity.ts'],
    without: plas({}, { balancer: 'least-loaded' }),
    with: DEFAULT,
    loads: ['agents', 'coding', 'fleet'],
  },
  {
    name: 'spilling',
    files: [],
    without: plas({ 'balancer.spillMs': NEVER }),
    with: DEFAULT,
    loads: ['agents', 'coding', 'fleet'],
  },
  {
    name: 'tenants by weight',
    files: ['src/programs/accounts.ts', 'src/programs/account.ts', 'src/queues/turn-queue.ts'],
    without: DEFAULT,
    with: plas({ 'policy.tenants': 'weighted' }),
    loads: ['tenants'],
  },
];
