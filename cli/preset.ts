import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../sidecar/config/similar.js';
import { DEFAULT_PRESET, type Preset, PRESET_NAMES, PRESETS, readPreset } from '../sim/index.js';

/** A preset and the name by which it was chosen. */
export interface ChosenPreset {
  readonly name: string;
  readonly preset: Preset;
}

/** An option that names a built-in preset, or a file written by `maitred sim calibrate`. */
export function presetOption(description: string, flags = '--preset <name>'): Option {
  return new Option(flags, `${description}, or a file of sim calibrate`)
    .choices(PRESET_NAMES)
    .argParser(choosePreset)
    .default({ name: DEFAULT_PRESET, preset: PRESETS[DEFAULT_PRESET] }, JSON.stringify(DEFAULT_PRESET));
}

function choosePreset(name: string): ChosenPreset {
  const known = PRESET_NAMES.find((each) => each === name);
  if (known !== undefined) return { name, preset: PRESETS[known] };
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new InvalidArgumentError(String(error));
    throw new InvalidArgumentError(
      `It must be one of ${PRESET_NAMES.join(', ')}, or a file${didYouMean(name, PRESET_NAMES)}`,
    );
  }
  try {
    return { name, preset: readPreset(text) };
  } catch (error) {
    if (error instanceof TypeError) throw new InvalidArgumentError(`${name} is no preset: ${error.message}`);
    throw error;
  }
}
