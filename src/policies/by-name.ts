import { POLICY_NAMES, type PolicyName, type RetentionName, type SchedulerConfig } from '../config.js';
import { passThrough, fcfsWindow } from './fcfs.js';
import { plas } from './plas.js';
import type { Policy } from './policy.js';
import { halfLifeRetention, lruRetention } from './retention-fixed.js';
import { learntRetention } from './retention-learnt.js';
import type { RetentionPolicy } from './retention.js';

/** All policies. A new one is a file in policies/, its name in `config.ts` and a line here. */
const POLICIES: Readonly<Record<PolicyName, (settings: SchedulerConfig['policy']) => Policy>> = {
  plas,
  'pass-through': () => passThrough,
  'fcfs-window': () => fcfsWindow,
};

const RETENTIONS: Readonly<Record<RetentionName, () => RetentionPolicy>> = {
  learnt: learntRetention,
  'half-life': halfLifeRetention,
  lru: lruRetention,
};

/** @throws RangeError when there is no such policy, as an untyped caller may ask */
export function makePolicy(config: SchedulerConfig['policy']): Policy {
  if (!Object.hasOwn(POLICIES, config.name))
    throw new RangeError(`policy.name is none of ${POLICY_NAMES.join(', ')}: ${config.name}`);
  return POLICIES[config.name](config);
}
export const makeRetention = (rule: SchedulerConfig['admission']['retention']): RetentionPolicy =>
  typeof rule === 'function' ? rule() : RETENTIONS[rule]();
