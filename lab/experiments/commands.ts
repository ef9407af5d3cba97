import { PRESETS } from '../../sim/index.js';
import { type Case, GAP_SECONDS_MAX, RECORDINGS } from './case.js';

/** Settings with a flag of `maitred sim`. */
const FLAGS: Readonly<Record<string, string>> = {
  'admission.window': '--window',
  'admission.gate': '--gate',
  'policy.tenants': '--tenants',
  'policy.foresight': '--foresight',
  'admission.retention': '--retention',
};

/**
 * `maitred sim` commands that repeat these runs, grouped where only policy or balancer differ. Cases with other
 * settings or changed machines have none.
 */
export function commandsOf(cases: readonly Case[], seeds: readonly number[], traces: string): string[] {
  const commands = new Map<string, { line: string; policies: string[]; balancers: string[] }>();
  for (const one of cases) {
    const line = commonOf(one, traces);
    if (line === undefined) continue;
    const { policy, balancer } = one.setup;
    // One command has either the default balancer or those that it names.
    const key = `${line} ${balancer === undefined}`;
    const { policies, balancers } = commands.get(key) ?? { line, policies: [], balancers: [] };
    if (!policies.includes(policy)) policies.push(policy);
    if (balancer !== undefined && !balancers.includes(balancer)) balancers.push(balancer);
    commands.set(key, { line, policies, balancers });
  }
  return [...commands.values()].map(({ line, policies, balancers }) =>
    [
      line,
      `--policy ${policies.join()}`,
      ...(balancers.length > 0 ? [`--balancer ${balancers.join()}`] : []),
      `--seed ${seeds.join()}`,
    ].join(' '),
  );
}

function commonOf({ scenario, setup }: Case, traces: string): string | undefined {
  const { programs, count, ratePerSecond, engines, machine, conditions } = scenario;
  const settings = Object.entries(setup.settings ?? {});
  const isAsItCame = setup.deception === undefined && scenario.toolCv === undefined;
  const isOwnSize = scenario.kvTokens !== undefined || scenario.hostTokens !== undefined;
  const isPlain = machine in PRESETS && !isOwnSize && isAsItCame;
  if (!isPlain || settings.some(([key]) => FLAGS[key] === undefined)) return undefined;
  const source =
    'workload' in programs
      ? `--workload ${programs.workload}`
      : `--trace ${traces}/${RECORDINGS[programs.recording].file} --gap-max ${GAP_SECONDS_MAX}s`;
  return [
    `maitred sim ${source} --rate ${ratePerSecond} --programs ${count} --engines ${engines} --preset ${machine}`,
    ...(conditions === undefined ? [] : [`--conditions ${conditions}`]),
    ...settings.map(([key, value]) => `${FLAGS[key] ?? ''} ${value}`),
    ...(setup.eviction === undefined ? [] : [`--engine-eviction ${setup.eviction}`]),
    ...(setup.belady ? ['--retention belady'] : []),
  ].join(' ');
}
