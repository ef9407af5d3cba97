import { Option } from 'commander';
import { MARGIN } from '../lab/index.js';
import { numberFrom } from './options.js';

export const marginOption = (): Option =>
  new Option('--margin <share>', 'largest relative difference that does not matter')
    .argParser(numberFrom(0, 0.5))
    .default(MARGIN);
