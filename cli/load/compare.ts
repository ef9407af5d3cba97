import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { plain, tableWidth } from '../../text/index.js';
import { compareDocuments, ComparisonError, comparisonHtmlOf, summaryOf } from '../../loadtest/report/index.js';
import { checkReadable, checkWritable } from '../files.js';
import { jsonOption } from './flags.js';
import { marginOption } from '../margin.js';
import { complain } from '../trace-file.js';

interface CompareFlags {
  readonly margin: number;
  readonly json?: string;
  readonly html?: string;
}

const ABOUT = 'compare two --json documents of maitred load, the second against the first';

/** `maitred load compare A.json B.json`: two runs that were made one after the other. */
export function addCompareCommand(load: Command): void {
  const compare = load.command('compare').description(ABOUT);
  compare
    .argument('<first>', 'document of one target')
    .argument('<other>', 'document of one target')
    .addOption(marginOption())
    .addOption(jsonOption('the comparison'))
    .option('--html <file>', 'write a page')
    .action(async (first: string, other: string, { margin, json, html }: CompareFlags) => {
      for (const file of [json, html]) if (file !== undefined && file !== '-') checkWritable(compare, file);
      if (html === '-') compare.error('--html wants a file');
      const read = (file: string) => documentIn(compare, file);
      try {
        const names = namesOf(first, other);
        const compared = compareDocuments(read(first), read(other), names, margin);
        const screen = json === '-' ? process.stderr : process.stdout;
        screen.write(plain(summaryOf(compared, tableWidth(screen))));
        const text = `${JSON.stringify({ version: 1, ...compared }, undefined, 2)}\n`;
        if (json === '-') process.stdout.write(text);
        else if (json !== undefined) write(json, text);
        if (html !== undefined) write(html, await comparisonHtmlOf(names.join(' against '), compared));
      } catch (error) {
        if (error instanceof ComparisonError) compare.error(error.message);
        throw error;
      }
    });
}

function write(file: string, text: string): void {
  writeFileSync(file, text);
  complain(`wrote ${file}`);
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
