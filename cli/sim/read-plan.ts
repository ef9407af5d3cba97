import type { Command } from 'commander';
import { Gathering } from '../../lab/index.js';
import { KEEPS_UP_PROGRAMS_MIN } from '../../loadtest/report/index.js';
import { integer } from '../../text/index.js';
import { hostOf, type HostOptions, type HostSettings, type Preset, type SimPolicyName } from '../../sim/index.js';
import { POLICY_NAMES, type PolicyName } from '../../src/index.js';
import { DEFAULT as DEFAULT_PRESET } from '../preset.js';
import { countOf, hasTenants, readArrivals, readSlo, readSource, type ProgramSource } from './source.js';
import { complain } from '../complain.js';
import type { Faults } from '../trace-file.js';
import {
  AXES,
  type Axis,
  CIRCUMSTANCES,
  combinationsOf,
  flagOf,
  isChoice,
  SCHEDULED,
  SEARCHED,
  type Lists,
  type Values,
} from './axes.js';
import { NO_CONDITIONS } from './conditions.js';
import type { GivenFlags, SimFlags } from './flags.js';
import { AUTO, RUNS_MAX, VALUES_MAX } from './lists.js';
import { axesOf, circumstancesOf, type Plan, type Variant } from './plan.js';
import { ownFirst, readScheduling, simRetentionOf, type Scheduling } from './scheduling.js';
import { SEEDS } from './sustained.js';

/** Policies that show where the gain comes from: no scheduling, the gate alone, and the order too. */
const COMPARED = ['pass-through', 'fcfs-window', 'plas'] as const satisfies readonly SimPolicyName[];

/**
 * The plan that the flags describe; ends the command if they are inconsistent. If the signal is aborted, the plan has
 * the part of a recording read so far.
 * @throws ConfigError, TraceError or Error about the files that they name
 */
export async function readPlan(
  command: Command,
  given: GivenFlags,
  faults: Faults,
  signal: AbortSignal,
): Promise<Plan> {
  const { searched, ...flags } = searchedOf(command, given);
  const first: Values = combinationsOf(listsOf(flags))[0] ?? {};
  const { config } = readScheduling(flags.config, first);
  const policy = flags.policy ?? comparedOf(flags, config.policy.name);
  const own = readScheduling(flags.config, {}, () => undefined).config;
  const lists = ownFirst({ ...listsOf(flags), policy, balancer: flags.balancer ?? [config.balancer.name] }, own);
  checkPolicies(command, flags, lists.policy);
  const source = await readSource(command, flags, 'lengths', faults, signal);
  const { rate, concurrency } = first;
  const arrivals = readArrivals(command, { ...flags, rate, concurrency }, source);
  if (searched === 'concurrency' && combinationsOf(lists).length < 2)
    command.error(
      '--concurrency auto looks for where one of two settings pays: give two, such as --policy pass-through,plas',
    );
  if (searched === 'engines' && arrivals.type !== 'open' && flags.slo.length === 0)
    command.error(
      "--engines auto needs a --rate to sustain, or an objective to meet, such as --slo 'program_seconds.p95 < 600'",
    );
  if (searched !== undefined && (flags.programs ?? Infinity) < KEEPS_UP_PROGRAMS_MIN)
    command.error(
      `--${searched} auto needs --programs ${KEEPS_UP_PROGRAMS_MIN} or more: fewer tell nothing of a load that lasts`,
    );
  const slos = flags.slo.map((text) => readSlo(command, text, 0, new Gathering(0).measures()));
  const around = circumstancesOf(lists);
  if (slos.length > 0 && (around.length > 1 || around.some((axis) => !SEARCHED.some((each) => each === axis))))
    command.error('--slo takes several values of --rate, --concurrency or --engines alone: give one of each other');
  const isFaultless = (flags.conditions ?? []).every(({ conditions }) => Object.keys(conditions).length === 0);
  const isExact = arrivals.type === 'trace' && isFaultless;
  const every = flags.seed ?? (searched === undefined ? [0] : searchSeeds(combinationsOf(lists).length));
  const seeds = isExact ? every.slice(0, 1) : every;
  checkRuns(command, { ...lists, seed: seeds, ...(searched && { [searched]: Array<number>(VALUES_MAX).fill(1) }) });
  if (seeds.length < every.length) complain('seeds change nothing at recorded arrival times: run once');
  const programs = countOf(flags, source, arrivals);
  const vain = SCHEDULED.find((name) => (flags[name]?.length ?? 0) > 1);
  if (vain !== undefined && lists.policy.every((name) => name === 'pass-through'))
    command.error(`${flagOf(vain)}: its values are all the same under pass-through, which schedules nothing`);
  // A search takes as many programs as it needs, unless told.
  const most = searched !== undefined && flags.programs === undefined ? Infinity : programs;
  for (const text of vainOf(command, flags, lists, most, source)) complain(text);
  if (source.type === 'trace' && source.format === 'event-log' && !(flags.config ?? flags.engines ?? flags.kvTokens))
    complain(`${source.file}: only its programs are taken: --config, or --engines and --kv-tokens, tell the engines`);
  const variants = combinationsOf(lists).map((values) => variantOf(command, flags, source, values));
  if (lists.balancer.length > 1 && searched !== 'engines' && variants.every(({ engines }) => engines === 1))
    command.error('--balancer: its values are all the same on one engine: set --engines');
  return {
    source,
    programs,
    gapMsMax: flags.gapMax ?? Infinity,
    announceEnds: flags.announceEnds,
    variants,
    lists,
    seeds,
    slos,
    searched,
    isExact,
    margin: flags.margin,
  };
}

/** As many seeds as tell most, if there is room for as many runs. */
const searchSeeds = (choices: number): readonly number[] =>
  Array.from({ length: Math.max(1, Math.min(SEEDS, Math.floor(RUNS_MAX / VALUES_MAX / choices))) }, (_, at) => at + 1);

/** The flags with a number, from which no search begins, for the circumstance that is looked for. */
function searchedOf(command: Command, given: GivenFlags): SimFlags & Pick<Plan, 'searched'> {
  const [searched, ...more] = SEARCHED.filter((axis) => given[axis] === AUTO);
  const several = CIRCUMSTANCES.find((axis) => (given[axis]?.length ?? 0) > 1 && given[axis] !== AUTO);
  if (searched !== undefined && (more.length > 0 || several !== undefined))
    command.error(`--${searched} auto: give one value of --${more[0] ?? several}`);
  return { ...given, ...(searched && { [searched]: [1] }), searched } as SimFlags & Pick<Plan, 'searched'>;
}

function listsOf(flags: SimFlags): Lists {
  const lists = {
    ...Object.fromEntries([...SEARCHED, ...SCHEDULED].map((name) => [name, flags[name]])),
    preset: flags.preset?.map(({ name }) => name),
    conditions: flags.conditions?.map(({ name }) => name),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list !== undefined));
}

/** Of a file, its policy and none, which tells whether it pays. Other settings with several values are compared alone. */
function comparedOf(flags: SimFlags, own: PolicyName): readonly SimPolicyName[] {
  const saysWhat =
    flags.balancer !== undefined || axesOf(listsOf(flags)).some((axis) => axis !== 'policy' && isChoice(axis));
  if (saysWhat) return [own];
  return flags.config === undefined ? COMPARED : ['pass-through', own === 'pass-through' ? 'plas' : own];
}

/** Options that change nothing here, in words. */
function* vainOf(command: Command, flags: SimFlags, { policy }: Lists, programs: number, source: ProgramSource) {
  const named = SCHEDULED.filter((name) => flags[name] !== undefined).map((name) => flagOf(name));
  if (policy?.every((name) => name === 'pass-through') === true && named.length > 0)
    yield `${named.join(', ')}: no effect under pass-through, which schedules nothing`;
  if (flags.tenants !== undefined && !hasTenants(source)) yield '--tenants: no effect, as no program has a tenant';
  const isVain = (option: string) =>
    !(flags.config ?? flags.hostTokens) && command.getOptionValueSource(option) === 'cli';
  if (isVain('hostGate')) yield '--host-gate: no effect without --host-tokens';
  if (isVain('hostWrites')) yield '--host-writes: no effect without --host-tokens';
  if (flags.programs !== undefined && programs < flags.programs)
    yield `the recording has ${programs} programs: --rate or --concurrency plays them again`;
  const most = Math.max(0, ...(flags.concurrency ?? []));
  if (most > programs) yield `all ${programs} programs run at once, so ${most} at a time is the same: raise --programs`;
}

function checkPolicies(command: Command, { retention }: SimFlags, policies: readonly SimPolicyName[]): void {
  const own = policies.find((name) => !POLICY_NAMES.some((other) => other === name));
  const simulated = retention?.find((name) => simRetentionOf(name) !== undefined);
  if (simulated !== undefined && own !== undefined)
    command.error(`--retention ${simulated} is for the gateway’s own policies, not for ${own}`);
}

function checkRuns(command: Command, lists: Lists & { readonly seed: readonly number[] }): void {
  const several = Object.entries(lists).filter(([, list]) => list.length > 1);
  const product = (axes: readonly Axis[]) => axes.reduce((count, axis) => count * (lists[axis]?.length ?? 1), 1);
  const isSpared = several.some(([name]) => name === 'policy') && lists.policy?.includes('pass-through') === true;
  const spared = isSpared ? ((product(SCHEDULED) - 1) * product(AXES)) / product([...SCHEDULED, 'policy']) : 0;
  const runs = (product(AXES) - spared) * lists.seed.length;
  const factors = several.map(([name, list]) => `${list.length} of --${name}`).join(' x ');
  if (runs > RUNS_MAX)
    command.error(`${integer(runs)} runs (${factors}) exceed the limit of ${RUNS_MAX}: give fewer values`);
}

function variantOf(
  command: Command,
  flags: SimFlags,
  source: ProgramSource,
  values: Values & Pick<Variant, 'policy' | 'balancer'>,
): Variant {
  const { policy, balancer, retention, rate, concurrency } = values;
  // Warnings were printed with the first.
  const { config, engines, sizes } = readScheduling(flags.config, values, () => undefined);
  const { name, preset: chosen } = flags.preset?.find((each) => each.name === values.preset) ?? DEFAULT_PRESET;
  const preset = presetWith(chosen, flags.kvTokens, sizes);
  return {
    policy,
    balancer,
    values,
    arrivals: readArrivals(command, { ...flags, rate, concurrency }, source),
    engines: values.engines ?? Math.max(1, engines),
    preset: name,
    engine: {
      host: hostFor(command, { hostTokens: sizes.hostTokens, ...flags }, preset),
      preset,
      blockSize: 16,
      windowMax: sizes.window,
    },
    conditions: flags.conditions?.find((each) => each.name === values.conditions) ?? NO_CONDITIONS,
    config,
    retention: simRetentionOf(retention),
  };
}

function presetWith(preset: Preset, kvTokens: number | undefined, sizes: Scheduling['sizes']): Preset {
  const {
    capacityTokens = preset.kvTokens,
    contextTokensMax: maxModelLen = preset.maxModelLen,
    hostTokensPerSecond,
  } = sizes;
  const hostBytesPerSecond =
    hostTokensPerSecond === undefined ? preset.hostBytesPerSecond : hostTokensPerSecond * preset.kvBytesPerToken;
  return { ...preset, kvTokens: kvTokens ?? capacityTokens, maxModelLen, hostBytesPerSecond };
}

function hostFor(command: Command, flags: HostOptions, preset: Preset): HostSettings | undefined {
  try {
    return hostOf(preset, flags);
  } catch (error) {
    return command.error((error as TypeError).message);
  }
}
