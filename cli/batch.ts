import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { FaultyBatch, PASSES, sharedTokens, type Outline, type Plan } from '../plans/index.js';
import { readPlan } from '../sidecar/batches/input.js';
import { ConfigError } from '../sidecar/config/index.js';
import { plain } from '../text/index.js';
import { runBatch, warnOf, type RunOptions } from './batch/run.js';
import { checkReadable, checkWritable } from './files.js';
import { names, wholeFrom } from './options.js';
import { stoppable } from './signals.js';

/** Lines of the order, and needs of each, that the text has. */
const ORDER_SHOWN_MAX = 20;
const NEEDS_SHOWN_MAX = 5;
/** Far above any batch: the machine's memory is the limit. */
const LIMITS = { linesMax: 1_000_000, lineBytes: 33_554_432 };

const CALL_PATH = /(\/v1)?\/(chat\/completions|completions|responses|messages|embeddings)\/*$/;

const without = () => names('--without <passes>', 'passes of the plan to leave out', PASSES);
const limitsOf = (left: readonly string[] = []) => ({
  ...LIMITS,
  passes: PASSES.filter((pass) => !left.includes(pass)),
});

/** @throws ConfigError for the faults of a batch's file */
async function naming<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof FaultyBatch)) throw error;
    const origin = (line: number | null) => (line === null ? file : `${file}:${line}`);
    throw new ConfigError(error.problems.map(({ line, message }) => ({ path: '', message, origin: origin(line) })));
  }
}

export function addBatchCommand(program: Command): void {
  const batch = program.command('batch').description('run or plan a batch of calls, in the form of OpenAI’s batch API');
  const run = batch
    .command('run')
    .description('run the calls of a file (docs/BATCHES.md)')
    .argument('<file>', 'the batch, JSON lines')
    .requiredOption('--target <url>', 'server of the OpenAI API; its key is taken from OPENAI_API_KEY')
    .requiredOption('-o, --out <file>', 'file for the answers; errors go to the same name with .errors')
    .option('--parallel <count>', 'most calls at a time', wholeFrom(1, 100_000), 64)
    .option('--resume', 'go on with the calls that --out lacks', false)
    .addOption(without());
  run.action(async (file: string, options: RunOptions & { readonly without?: string[] }) => {
    const { out, resume, target } = options;
    checkReadable(run, file);
    for (const path of [file, out, `${out}.errors`]) {
      if (existsSync(path) && !statSync(path).isFile()) run.error(`${path}: is no regular file`);
      if (path === file) continue;
      checkWritable(run, path);
      if (!resume && existsSync(path) && statSync(path).size > 0)
        run.error(`${path} exists: give --resume to go on with it, or another --out`);
    }
    if (!URL.canParse(target) || !/^https?:/.test(target)) run.error(`--target: ${target} is no URL of a server`);
    const base = target.replace(CALL_PATH, '');
    if (base !== target) run.error(`--target: ${target} is the URL of calls: use ${base}, as each line names its path`);
    await stoppable((signal) => naming(file, () => runBatch(file, options, limitsOf(options.without), signal)));
  });
  const plan = batch
    .command('plan')
    .description('check a batch, and print its size, what each pass of the plan saves, and its order')
    .argument('<file>', 'the batch, JSON lines')
    .option('--json', 'print the plan as JSON, with all of the order')
    .addOption(without());
  plan.action(async (file: string, { json, without: left }: { readonly json?: true; readonly without?: string[] }) => {
    checkReadable(plan, file);
    const limits = limitsOf(left);
    const { outlines, plan: planned, warnings } = await naming(file, () => readPlan(file, limits));
    warnOf(file, warnings);
    const text = json
      ? JSON.stringify({ version: 1, ...figuresOf(outlines, planned), order: orderRows(outlines, planned) })
      : plain(asText(outlines, planned));
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
    promptTokens: sum(lines.map(({ promptTokens, callsMax }) => callsMax * promptTokens)),
    lineTokens: sum(lines.map(({ promptTokens }) => promptTokens)),
    outputTokens: sum(lines.map(({ outputTokens, callsMax }) => callsMax * outputTokens)),
    criticalTokens: critical.reduce((most, tokens) => Math.max(most, tokens), 0),
    merged: { lines: copies.length, promptTokens: sum(copies.map(({ promptTokens }) => promptTokens)) },
    sharedTokens: { asGiven: sharedTokens(lines, asked(lines.keys())), planned: sharedTokens(lines, asked(order)) },
  };
}

function asText(lines: readonly Outline[], plan: Plan): string {
  const {
    programs,
    dependencies,
    promptTokens,
    lineTokens,
    outputTokens,
    criticalTokens,
    merged,
    sharedTokens: shared,
  } = figuresOf(lines, plan);
  const lists = lines.some(({ callsMax }) => callsMax > 1) ? '; "each" with all that its max allows' : '';
  const inserts = dependencies > 0 ? '; without the answers that lines insert' : '';
  const share = (tokens: number) => `${tokens} (${Math.round((100 * tokens) / Math.max(1, lineTokens))} %)`;
  return [
    `lines                   ${lines.length}`,
    `dependencies            ${dependencies}: a line that waits for two others has two`,
    `programs                ${programs}: lines that wait for each other are one`,
    `prompt tokens           ${promptTokens}, estimated at 4 characters each${inserts}${lists}`,
    `output tokens           ${outputTokens} at most; 256 for a line without a limit${lists}`,
    `longest chain           ${criticalTokens} tokens, one line after the other`,
    `equal lines             ${merged.lines}, answered by copies; prompt tokens saved ${share(merged.promptTokens)}`,
    `prompt tokens that a line has in common with the one before, so that the cache has them`,
    `  in the file's order   ${share(shared.asGiven)}`,
    `  as planned            ${share(shared.planned)}`,
    ...(dependencies + merged.lines === 0 && shared.planned <= shared.asGiven
      ? ['The order saves nothing here; --json has it.']
      : [
          `order of the start, and what each line waits for${lines.length > ORDER_SHOWN_MAX ? `; the first ${ORDER_SHOWN_MAX}, all: --json` : ''}`,
          ...orderRows(lines, plan).slice(0, ORDER_SHOWN_MAX).map(orderText),
        ]),
  ].join('\n');
}

const orderText = ({ custom_id: id, line, same_as: same, needs }: ReturnType<typeof orderRows>[number]): string => {
  const more = needs.length > NEEDS_SHOWN_MAX ? `, … (${needs.length})` : '';
  const after = needs.length === 0 ? '' : `, needs ${needs.slice(0, NEEDS_SHOWN_MAX).join(', ')}${more}`;
  return `  ${id} (line ${line})${after}${same === undefined ? '' : `, a copy of ${same}`}`;
};

function orderRows(lines: readonly Outline[], plan: Plan) {
  return Array.from(plan.order, (index) => {
    const { customId = '', line = 0, needs = [] } = lines[index] ?? {};
    const original = plan.originals[index] ?? index;
    const merged = original === index ? {} : { same_as: lines[original]?.customId };
    const { programs, critical } = plan;
    return { custom_id: customId, line, ...merged, program: programs[index], needs, criticalTokens: critical[index] };
  });
}
