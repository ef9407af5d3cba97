import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { plain, tableWidth } from '../../lab/index.js';
import { compareDocuments, ComparisonError, summaryOf } from '../../loadtest/report/index.js';
import { checkReadable } from '../files.js';
import { marginOption } from '../margin.js';

const ABOUT = 'compare two --json documents of maitred load, the second against the first';

/** `maitred load compare A.json B.json`: two runs that were made one after the other. */
export function addCompareCommand(load: Command): void {
  const compare = load.command('compare').description(ABOUT);
  compare
    .argument('<first>', 'document of one target')
    .argument('<other>', 'document of one target')
    .addOption(marginOption())
    .action((first: string, other: string, { margin }: { readonly margin: number }) => {
      const read = (file: string) => documentIn(compare, file);
      try {
        const compared = compareDocuments(read(first), read(other), namesOf(first, other), margin);
        process.stdout.write(plain(summaryOf(compared, tableWidth(process.stdout))));
      } catch (error) {
        if (error instanceof ComparisonError) compare.error(error.message);
        throw error;
      }
    });
}

/** Names of the files without their folders, where these differ. */
function namesOf(first: string, other: string): [string, string] {
  const [a, b] = [first, other].map((file) => basename(file).replace(/\.json$/, '')) as [string, string];
  return a === b ? [first, other] : [a, b];
}

function documentIn(command: Command, file: string): unknown {
  checkReadable(command, file);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return command.error(`${file} is not valid JSON: ${(error as Error).message}`);
  }
}
