import type { Command } from 'commander';
import { POLICY_NAMES } from '../../src/index.js';
import { countOf, readArrivals, readSource } from '../program-source.js';
import { complain, type Faults } from '../trace-file.js';
import type { SimFlags } from './flags.js';
import type { Plan } from './plan.js';
import { BELADY, readScheduling } from './scheduling.js';

/**
 * The plan that the flags describe; ends the command if they are inconsistent. If the signal is aborted, the plan has
 * the part of a recording read so far.
 * @throws ConfigError, TraceError or Error about the files that they name
 */
export async function readPlan(command: Command, flags: SimFlags, faults: Faults, signal: AbortSignal): Promise<Plan> {
  const { config, engines } = readScheduling(flags);
  const policies = flags.policy ?? [config.policy.name];
  const { busy, broken, engineLoss } = flags.conditions.conditions;
  if (policies.includes('mru-pause') && (busy ?? broken ?? engineLoss) !== undefined)
    command.error('--policy mru-pause knows no engines that fail: leave busy, broken and engineLoss out of --conditions'); // prettier-ignore
  const isBelady = flags.retention === BELADY;
  const own = policies.find((name) => !POLICY_NAMES.some((other) => other === name));
  if (isBelady && own !== undefined)
    command.error(`--retention belady is for the gateway’s own policies, not for ${own}`);
  const source = await readSource(command, flags, 'lengths', faults, signal);
  const arrivals = readArrivals(command, flags, source);
  const { name, preset } = flags.preset;
  const isExact = arrivals.type === 'trace' && Object.keys(flags.conditions.conditions).length === 0;
  const seeds = flags.seed ?? [0];
  if (isExact && seeds.length > 1) complain('seeds change nothing at recorded arrival times: run once');
  return {
    source,
    arrivals,
    programs: countOf(flags, source, arrivals),
    gapMsMax: flags.gapMax ?? Infinity,
    engines: flags.engines ?? Math.max(1, engines),
    preset: name,
    engine: {
      preset: { ...preset, kvTokens: flags.kvTokens ?? preset.kvTokens },
      blockSize: 16,
      scheduling: flags.enginePriority ? 'priority' : 'fcfs',
    },
    conditions: flags.conditions,
    config,
    isBelady,
    policies,
    balancers: flags.balancer ?? [config.balancer.name],
    seeds: isExact ? seeds.slice(0, 1) : seeds,
    isExact,
    margin: flags.margin,
  };
}
