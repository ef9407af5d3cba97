import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { sayDisturbance, watchOthers, type Disturbance } from '../disturbance.js';
import { printTable, say } from '../numbers.js';
import { partsOf, type Part, type Tools } from './parts.js';

/** `npm run bench:live`: makes the published figures of real time anew, one after another. */

interface Options extends Tools {
  readonly out?: string;
  readonly only?: string;
  readonly quick: boolean;
  readonly list: boolean;
}

interface Outcome {
  readonly name: string;
  readonly table: string;
  readonly code: number;
  readonly disturbance: Disturbance;
}

const command = new Command('bench:live')
  .description('Makes all live and cost figures of the documents anew, in half an hour on two idle cores.')
  .option('--out <folder>', 'writes what each part prints, and index.json')
  .option('--only <names>', 'parts to run, with commas between')
  .option('--router <path>', 'the vllm-router command (default: the one on the PATH)')
  .option('--vllm <url>', 'also measures this vLLM (test/slow/vllm/README.md starts one)')
  .option('--quick', 'shows that the parts work; their figures are rough', false)
  .option('--list', 'lists the parts, and runs none', false)
  .showHelpAfterError()
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const options = command.opts<Options>();
process.exitCode = await main();

async function main(): Promise<number> {
  const all = partsOf(options);
  const names = options.only?.split(',') ?? all.map(({ name }) => name);
  const unknown = names.filter((name) => !all.some((part) => part.name === name));
  if (unknown.length > 0) {
    process.stderr.write(
      `bench:live: no such part: ${unknown.join(', ')}. Parts: ${all.map(({ name }) => name).join(', ')}\n`,
    );
    return 2;
  }
  const parts = all.filter((part) => names.includes(part.name) && (!options.quick || part.quick !== undefined));
  const minutes = parts.reduce((sum, part) => sum + part.minutes, 0);
  if (options.list) {
    printTable(['part', 'makes', 'minutes'], parts.map((part) => [part.name, part.table, part.minutes.toFixed(1)])); // prettier-ignore
    say(`In all ${minutes.toFixed(0)} minutes.`);
    return 0;
  }
  const outcomes: Outcome[] = [];
  for (const [index, part] of parts.entries()) {
    say(`\n##### ${part.name}, for “${part.table}” (${index + 1} of ${parts.length}) #####\n`);
    const { code, text, disturbance } = await run(part);
    say(`\n${part.name}: ${sayDisturbance(disturbance)}${code === 0 ? '' : ` FAILED with ${code}.`}`);
    outcomes.push({ name: part.name, table: part.table, code, disturbance });
    save(`${part.name}.txt`, `${text}\n${sayDisturbance(disturbance)}\n`);
    save('index.json', JSON.stringify({ version: 1, node: process.version, quick: options.quick, parts: outcomes }, undefined, 2)); // prettier-ignore
  }
  report(outcomes);
  return outcomes.every(({ code }) => code === 0) ? 0 : 1;
}

/** Runs the part in a process of its own. All that it prints is shown and kept. */
async function run({ args, quick }: Part): Promise<{ code: number; text: string; disturbance: Disturbance }> {
  const disturbance = watchOthers();
  const chunks: Buffer[] = [];
  const child = spawn(process.execPath, [...(options.quick ? (quick ?? []) : args)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    process.stdout.write(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    process.stderr.write(chunk);
  });
  const code = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (status) => resolve(status ?? 128));
  });
  return { code, text: Buffer.concat(chunks).toString(), disturbance: disturbance() };
}

function save(file: string, text: string): void {
  if (options.out === undefined) return;
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, file), text);
}

function report(outcomes: readonly Outcome[]): void {
  say('');
  printTable(
    ['part', 'makes', 'took s', 'others, CPU s', 'others, cores', 'publish'],
    outcomes.map(({ name, table, code, disturbance }) => [
      name,
      table,
      disturbance.seconds.toFixed(0),
      disturbance.others_cpu_seconds?.toFixed(1) ?? '-',
      disturbance.others_cores?.toFixed(2) ?? '-',
      code !== 0 ? 'no: failed' : disturbance.disturbed ? 'no: disturbed' : 'yes',
    ]),
  );
}
