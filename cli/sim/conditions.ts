import { InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../../sidecar/config/index.js';
import { CONDITIONS, type Conditions, type ConditionsName, conditionsSchema } from '../../sim/index.js';
import { readYaml } from '../files.js';

export interface ChosenConditions {
  readonly name: string;
  readonly conditions: Conditions;
}

const NAMES = Object.keys(CONDITIONS) as ConditionsName[];

export const conditionsOption = (): Option =>
  new Option('--conditions <name>', `failures: ${NAMES.join(', ')}, or a YAML file`)
    .argParser(choose)
    .default({ name: 'none', conditions: CONDITIONS.none } satisfies ChosenConditions, '"none"');

/** @throws ConfigError with every problem of the file */
function choose(name: string): ChosenConditions {
  const known = NAMES.find((each) => each === name);
  if (known !== undefined) return { name, conditions: CONDITIONS[known] };
  if (!/[./\\]/.test(name))
    throw new InvalidArgumentError(`It must be one of ${NAMES.join(', ')}, or a file${didYouMean(name, NAMES)}`);
  return { name, conditions: readYaml(name, conditionsSchema) };
}
