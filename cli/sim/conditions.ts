import { InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../../sidecar/config/index.js';
import { CONDITIONS, type Conditions, type ConditionsName, conditionsSchema } from '../../sim/index.js';
import { readYaml } from '../files.js';
import { chosenFrom } from './lists.js';

export interface ChosenConditions {
  readonly name: string;
  readonly conditions: Conditions;
}

const NAMES = Object.keys(CONDITIONS) as ConditionsName[];

export const conditionsOption = (): Option =>
  new Option(
    '--conditions <names>',
    `failures: ${NAMES.join(', ')}, or a YAML file; several with commas (default: "none")`,
  ).argParser(chosenFrom(choose));

export const NO_CONDITIONS: ChosenConditions = { name: 'none', conditions: CONDITIONS.none };

/** @throws ConfigError with every problem of the file */
function choose(name: string): ChosenConditions {
  const known = NAMES.find((each) => each === name);
  if (known !== undefined) return { name, conditions: CONDITIONS[known] };
  if (!/[./\\]/.test(name))
    throw new InvalidArgumentError(`It must be one of ${NAMES.join(', ')}, or a file${didYouMean(name, NAMES)}`);
  const conditions = readYaml(name, conditionsSchema);
  if (Object.keys(conditions).length === 0)
    throw new InvalidArgumentError('It has no section, such as engineLoss: choose none for no failures.');
  return { name, conditions };
}
