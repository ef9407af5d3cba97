import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { PASSES, planOf, sharedTokens, type Outline, type Pass, type Plan } from '../plans/index.js';
import { inSlices, readOutlines } from '../sidecar/batches/input.js';
import { plain } from '../text/index.js';
import { fail, LIMITS, URLS } from './batch/file.js';
import { runBatch, type RunOptions } from './batch/run.js';
import { checkReadable, checkWritable } from './files.js';
import { names, numberFrom } from './options.js';
import { stoppable } from './signals.js';

const without = () => names('--without <passes>', 'passes of the plan to leave out', PASSES);
const passesOf = (left: readonly string[] = []): readonly Pass[] => PASSES.filter((pass) => !left.includes(pass));

/** `maitred batch`: batches of calls, run against any server, or only planned. */
export function addBatchCommand(program: Command): void {
  const batch = program.command('batch').description('run or plan a batch of calls, in the form of OpenAI’s batch API');
  const run = batch
    .command('run')
    .description('run the calls of a file (docs/BATCHES.md)')
    .argument('<file>', 'the batch, JSON lines')
    .requiredOption('--target <url>', 'server of the OpenAI API; its key is taken from OPENAI_API_KEY')
    .requiredOption('-o, --out <file>', 'file for the answers; errors go to the same name with .errors')
    .option('--parallel <count>', 'most calls at a time', numberFrom(1, 100_000, 'a whole number'), 64)
    .option('--resume', 'go on with the calls that --out lacks', false)
    .addOption(without());
  run.action(async (file: string, options: RunOptions & { readonly resume: boolean; readonly without?: string[] }) => {
    const { out, resume, target } = options;
    checkReadable(run, file);
    for (const path of [out, `${out}.errors`]) {
      checkWritable(run, path);
      if (!resume && existsSync(path)) run.error(`${path} exists: give --resume to go on with it, or another --out`);
    }
    if (!URL.canParse(target) || !/^https?:/.test(target)) run.error(`--target: ${target} is no URL of a server`);
    await stoppable((signal) => runBatch(file, options, passesOf(options.without), signal));
  });
  const plan = batch
    .command('plan')
    .description('print the graph and the order of a batch, and what each pass of the plan saves')
    .argument('<file>', 'the batch, JSON lines')
    .option('--json', 'print the plan as JSON')
    .addOption(without());
  plan.action(async (file: string, { json, without: left }: { readonly json?: true; readonly without?: string[] }) => {
    checkReadable(plan, file);
    const read = await readOutlines(file, URLS, LIMITS);
    const outlines = 'outlines' in read ? read.outlines : fail(file, read);
    const planned = await inSlices(planOf(outlines, passesOf(left)));
    if (!('order' in planned)) return fail(file, planned);
    const text = json ? JSON.stringify(asJson(outlines, planned)) : plain(asText(outlines, planned));
    process.stdout.write(`${text}\n`);
  });
}

function figuresOf(lines: readonly Outline[], { programs, critical, order, needs, originals }: Plan) {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const copies = lines.filter((_, index) => originals[index] !== index);
  const asked = (indexes: Iterable<number>) => [...indexes].filter((index) => originals[index] === index);
  return {
    lines: lines.length,
    programs: 1 + programs.reduce((most, program) => Math.max(most, program), 0),
    dependencies: sum(needs.map(({ length }) => length)),
    promptTokens: sum(lines.map(({ promptTokens }) => promptTokens)),
    outputTokens: sum(lines.map(({ outputTokens }) => outputTokens)),
    criticalTokens: critical.reduce((most, tokens) => Math.max(most, tokens), 0),
    merged: { lines: copies.length, promptTokens: sum(copies.map(({ promptTokens }) => promptTokens)) },
    sharedTokens: { asGiven: sharedTokens(lines, asked(lines.keys())), planned: sharedTokens(lines, asked(order)) },
  };
}

function asText(lines: readonly Outline[], plan: Plan): string {
  const { programs, dependencies, promptTokens, outputTokens, criticalTokens, merged, sharedTokens: shared } = figuresOf(lines, plan); // prettier-ignore
  const share = (tokens: number) => `${tokens} (${Math.round((100 * tokens) / Math.max(1, promptTokens))} %)`;
  return [
    `lines                   ${lines.length}`,
    `answers in prompts      ${dependencies}: so many times a line waits for another's answer`,
    `programs                ${programs}: lines that wait for each other are one`,
    `prompt tokens           ${promptTokens}, estimated at 4 characters each`,
    `output tokens           ${outputTokens} at most; 256 for a line without a limit`,
    `longest chain           ${criticalTokens} tokens, one line after the other`,
    `equal lines             ${merged.lines}, answered by copies; prompt tokens saved ${share(merged.promptTokens)}`,
    `prompt tokens that a line has in common with the one before, so that the cache has them`,
    `  in the file's order   ${share(shared.asGiven)}`,
    `  as planned            ${share(shared.planned)}`,
  ].join('\n');
}

function asJson(lines: readonly Outline[], plan: Plan): object {
  const order = Array.from(plan.order, (index) => {
    const { customId = '', line = 0, needs = [] } = lines[index] ?? {};
    const original = plan.originals[index] ?? index;
    const merged = original === index ? {} : { same_as: lines[original]?.customId };
    return {
      custom_id: customId,
      line,
      ...merged,
      program: plan.programs[index],
      needs,
      criticalTokens: plan.critical[index],
    };
  });
  return { version: 1, ...figuresOf(lines, plan), order };
}
