import { loadConfig, type ConfigInputs } from '../../../sidecar/config/load.js';
import { ConfigError, type ConfigProblem } from '../../../sidecar/config/problems.js';
import { fileOf } from '../../support/folder.js';

export const write = (text: string | Uint8Array) => fileOf('maitred.yaml', text);

export function problemsIn(inputs: ConfigInputs): readonly ConfigProblem[] {
  try {
    loadConfig(inputs);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

export const pathsIn = (text: string | Uint8Array) => problemsIn({ file: write(text) }).map(({ path }) => path);
export const lineOf = (problem: ConfigProblem | undefined) => Number(problem?.origin?.split(':').at(-1));
