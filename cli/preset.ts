import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { didYouMean, fileFault, readConfigFile } from '../sidecar/config/index.js';
import { DEFAULT_PRESET, HOST_WRITES, type Preset, PRESET_NAMES, PRESETS, presetFileSchema } from '../sim/index.js';
import { complain } from './complain.js';
import { readYaml } from './files.js';

export interface ChosenPreset {
  readonly name: string;
  readonly preset: Preset;
}

export const DEFAULT: ChosenPreset = { name: DEFAULT_PRESET, preset: PRESETS[DEFAULT_PRESET] };

export const PRESET_CHOICES = 'each also as NAME:low and NAME:high, by its efficiency; or a file of sim calibrate';
export const BASE_NAMES = PRESET_NAMES.filter((name) => !name.includes(':'));

/** An option that names a built-in preset, or a file written by `maitred sim calibrate`. */
export const presetOption = (description: string): Option =>
  new Option('--preset <name>', `${description}, ${PRESET_CHOICES}`)
    .choices(BASE_NAMES)
    .argParser(choosePreset)
    .default(DEFAULT, JSON.stringify(DEFAULT_PRESET));

export const hostWritesOption = (): Option =>
  new Option('--host-writes <when>', 'copy prompts to host memory when computed, as vLLM does, or what is evicted')
    .choices(HOST_WRITES)
    .default(HOST_WRITES[0]);

/** @throws ConfigError with every problem of a file */
export function choosePreset(name: string): ChosenPreset {
  const known = PRESET_NAMES.find((each) => each === name);
  if (known !== undefined) return { name, preset: PRESETS[known] };
  if (existsSync(name)) return { name, preset: readPreset(name) };
  throw new InvalidArgumentError(
    `It must be one of ${PRESET_NAMES.join(', ')}, or a file${didYouMean(name, PRESET_NAMES)}`,
  );
}

function readPreset(file: string): Preset {
  // Each of its keys would be told else.
  if (!('preset' in readConfigFile(file).values)) throw fileFault(file, 'is no preset that sim calibrate wrote');
  const { preset, fit } = readYaml(file, presetFileSchema);
  if (fit?.isGood === false)
    complain(`${file}: its fit is not good enough to compare policies: measure again on an idle server`);
  return preset;
}
