import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import { SIM_BALANCERS, SIM_POLICIES, SIM_RETENTION_NAMES, type HostOptions } from '../../sim/index.js';
import { FORESIGHT_NAMES, RETENTION_NAMES, TENANTS_NAMES } from '../../src/index.js';
import { loadConfig } from '../../sidecar/config/index.js';
import { addExamples } from '../advice.js';
import { collect, names, wholeFrom } from '../options.js';
import { SIM_BALANCER_SENTENCES, SIM_POLICY_SENTENCES } from './choices.js';
import { explainChoices } from '../choices-help.js';
import { BASE_NAMES, choosePreset, DEFAULT, hostWritesOption, PRESET_CHOICES, type ChosenPreset } from '../preset.js';
import { addSourceOptions, marginOption, type SourceFlags } from './source.js';
import { conditionsOption, type ChosenConditions } from './conditions.js';
import type { Lists, Searched } from './axes.js';
import { type AUTO, chosenFrom, orAuto, seeds, settings, wholesFrom } from './lists.js';

/** As given: `auto` is to be looked for. */
export type GivenFlags = Omit<SimFlags, Searched> & { readonly [A in Searched]?: readonly number[] | typeof AUTO };

export interface SimFlags
  extends SourceFlags<readonly number[]>, HostOptions, Omit<Lists, 'rate' | 'concurrency' | 'preset' | 'conditions'> {
  readonly preset?: readonly ChosenPreset[];
  readonly kvTokens?: number;
  readonly announceEnds: boolean;
  readonly conditions?: readonly ChosenConditions[];
  readonly config?: string;
  readonly seed?: readonly number[];
  readonly slo: readonly string[];
  readonly margin: number;
  readonly jobs: number;
  readonly json: boolean;
}

const DEFAULTS = loadConfig({});

export function addSimOptions(command: Command): Command {
  addSchedulingOptions(addEngineOptions(addSourceOptions(command, { canSearch: true })))
    .optionsGroup('Runs and output:')
    .option(
      '--seed <numbers>',
      'random seeds, several with commas or as 1..8: each is a run (default: 0; of auto, 1..8)',
      seeds,
    )
    .option(
      '--slo <expression>',
      'an objective: which settings and loads meet it, such as "program_seconds.p95 < 500" or "ttft_seconds.p99 < 5"; repeatable',
      collect,
      [],
    )
    .addOption(marginOption())
    .addOption(jobsOption())
    .option('--json', 'print one JSON document instead of tables', false)
    .addHelpText(
      'after',
      '\nRates, concurrencies, engines, presets, conditions and all scheduling settings take several values, separated by commas. Each combination with each seed is a run.\nOf rates, concurrencies or engines, auto looks for the values that tell most: from which load on it pays, up to which it is sustained, how many engines are enough.\nTimes are such as 500ms, 90s, 5m or 1h; a number alone is seconds.\nSettings are compared with pass-through and the gateway’s own values where listed, else with the first of each list, in the same circumstances.\nWithout --policy, pass-through, fcfs-window and plas are compared; with --config, pass-through and its policy; with another list, that alone.',
    );
  return addExamples(explainChoices(command, SIM_POLICY_SENTENCES, SIM_BALANCER_SENTENCES), {
    'sim --workload team --rate auto --policy pass-through,plas': 'from which rate on it pays, and who pays for it',
    'sim --workload team --rate 0.3 --engines auto': 'how many engines are enough',
    'sim --trace examples/programs.jsonl --policy pass-through,plas': 'recorded programs',
    'sim --workload mixed --rate 0.5,1,2 --window auto,32,64 --seed 1,2,3': 'several windows, at each rate',
    'sim --config maitred.yaml --workload agents.yaml --rate 1': 'your settings, and programs of your own',
  });
}

const addEngineOptions = (command: Command): Command =>
  command
    .optionsGroup('Engines:')
    .option(
      '--engines <counts>',
      'engine replicas; several with commas or as 1..4, or auto (default: those of --config, else 1)',
      orAuto(wholesFrom(1, 4096)),
    )
    .addOption(presetsOption('model and machine of each engine'))
    .addOption(numeric('--kv-tokens <tokens>', 'tokens in the KV cache of each engine; absent: the preset’s', 16, 1e8))
    .addOption(
      numeric(
        '--host-tokens <tokens>',
        'tokens that each engine’s host memory keeps of what leaves the KV cache; absent: none',
        0,
        1e10,
      ),
    )
    .addOption(hostWritesOption())
    .option('--announce-ends', 'clients say that their programs have ended', false)
    .addOption(conditionsOption());

const addSchedulingOptions = (command: Command): Command =>
  command
    .optionsGroup('Scheduling:')
    .addOption(
      names(
        '--policy <names>',
        'which call runs next; several with commas (default: pass-through,fcfs-window,plas)',
        SIM_POLICIES,
      ),
    )
    .addOption(
      names(
        '--balancer <names>',
        `where a call runs; several with commas (default: ${DEFAULTS.balancer.name})`,
        SIM_BALANCERS,
      ),
    )
    .option(
      '-c, --config <file>',
      'the gateway’s YAML file; its scheduling and the number and sizes of its engines apply',
    )
    .option(
      '--window <calls>',
      `calls in flight per engine: numbers, auto or adaptive (admission.window; default: ${DEFAULTS.admission.window})`,
      settings,
    )
    .addOption(
      names(
        '--foresight <uses>',
        `knowledge of the work ahead (policy.foresight; default: ${DEFAULTS.policy.foresight})`,
        FORESIGHT_NAMES,
      ),
    )
    .addOption(
      names(
        '--tenants <divisions>',
        `division of engine time among tenants (policy.tenants; default: ${DEFAULTS.policy.tenants})`,
        TENANTS_NAMES,
      ),
    )
    .addOption(
      names(
        '--retention <rules>',
        `retention of idle contexts (admission.retention; default: ${DEFAULTS.admission.retention}); belady knows the future`,
        [...RETENTION_NAMES, ...SIM_RETENTION_NAMES],
      ),
    )
    .option(
      '--gate <shares>',
      `largest share of KV capacity for the working set, 0: no gate (admission.gate; default: ${DEFAULTS.admission.gate})`,
      settings,
    )
    .option(
      '--host-gate <shares>',
      `largest share of host memory for idle contexts, 0: not counted (admission.hostGate; default: ${DEFAULTS.admission.hostGate})`,
      settings,
    );

/** Presets, separated by commas or repeated. Absent: undefined, as a repeated option adds to its default. */
const presetsOption = (description: string): Option =>
  new Option(
    '--preset <names>',
    `${description}, ${PRESET_CHOICES}; several with commas (default: ${JSON.stringify(DEFAULT.name)})`,
  )
    .choices(BASE_NAMES)
    .argParser(chosenFrom(choosePreset));

export const jobsOption = () =>
  numeric('--jobs <count>', 'runs at the same time', 1, 256).default(availableParallelism());

const numeric = (flags: string, description: string, least: number, most: number): Option =>
  new Option(flags, description).argParser(wholeFrom(least, most));
