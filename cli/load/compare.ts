import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { plain, tableWidth } from '../../text/index.js';
import { compareDocuments, ComparisonError, isLossy, summaryOf, type Summarized } from '../../loadtest/report/index.js';
import { checkReadable } from '../files.js';
import { marginOption } from '../sim/source.js';
import { sweepText } from './sweep.js';
import { carried, type Played, playedOf } from './verdict.js';

export function addCompareCommand(load: Command): void {
  const compare = load
    .command('compare')
    .description('compare two --json documents of maitred load, the second against the first')
    .argument('<first>', 'document of one target')
    .argument('<other>', 'document of one target')
    .addOption(marginOption());
  compare.action((first: string, other: string, { margin }: { readonly margin: number }) => {
    try {
      const compared = compareDocuments(documentIn(compare, first), documentIn(compare, other), [first, other], margin);
      process.stdout.write(plain(textFor(compared, tableWidth(process.stdout))));
      if (compared.every(({ targets }) => targets.some(isLossy))) throw new Error('nothing could be compared');
    } catch (error) {
      if (error instanceof ComparisonError) compare.error(error.message);
      throw error;
    }
  });
}

function textFor(documents: readonly Summarized[], width: number): string {
  const [document, ...more] = documents;
  if (document !== undefined && more.length === 0) return summaryOf(document, width);
  const played = documents.reduce<Played[]>((lower, each) => [...lower, playedOf(carried(each, lower))], []);
  return `${played.map(({ sentence }) => `${sentence}\n`).join('')}${sweepText(documents, played, undefined, width)}`;
}

function documentIn(command: Command, file: string): unknown {
  checkReadable(command, file);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return command.error(`${file} is not valid JSON: ${(error as Error).message}`);
  }
}
