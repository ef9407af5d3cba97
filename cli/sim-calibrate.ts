import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Calibration, calibratePreset } from '../loadtest/index.js';
import { isGood, type RelativeErrors, type TimeName, TIMES, verdictOf } from '../sim/index.js';
import { percent } from '../text/index.js';
import { secretIn, wholeFrom } from './options.js';
import { presetOption, type ChosenPreset } from './preset.js';
import { Interrupted, stoppable } from './signals.js';
import { checkWritable } from './files.js';
import { unusable } from './load.js';
import { complain } from './complain.js';

interface CalibrateFlags {
  readonly target: string;
  readonly preset: ChosenPreset;
  readonly model?: string;
  readonly key?: string;
  readonly slots?: number;
  readonly batchTokens?: number;
  readonly concurrency: number;
  readonly promptTokens: number;
  readonly out?: string;
  readonly iOwnThisTarget: boolean;
  readonly json: boolean;
}

export function addCalibrateCommand(sim: Command): void {
  // Both have --preset and --json: options after the subcommand are its own.
  sim.enablePositionalOptions();
  const command = sim.command('calibrate').description('fit a preset to the timings of a real, idle server');
  command
    .requiredOption('--target <url>', 'OpenAI-compatible server with /v1/completions')
    .addOption(presetOption('model sizes and limits, which timings do not reveal'))
    .option('--model <name>', 'model to request; absent: the first that the server lists')
    .option('--key <variable>', 'environment variable that holds the API key')
    .option('--slots <count>', 'most sequences per step; absent: the preset’s', wholeFrom(1, 100_000))
    .option('--batch-tokens <tokens>', 'most tokens per step; absent: the preset’s', wholeFrom(1, 1e6))
    .option('--concurrency <count>', 'most requests at a time', wholeFrom(1, 64), 8)
    .option('--prompt-tokens <tokens>', 'longest prompt, if the server accepts it', wholeFrom(64, 1e6), 4096)
    .option('-o, --out <file>', 'write the preset to a file that --preset of engine and sim reads')
    .option('--json', 'print the content of --out instead of tables', false)
    .option('--i-own-this-target', 'allow a target that is not on a private network', false)
    .action(async (flags: CalibrateFlags) => {
      if (flags.out !== undefined) checkWritable(command, flags.out);
      const apiKey = flags.key === undefined ? undefined : secretIn(command, '--key', flags.key);
      return run({ ...flags, apiKey }).catch(unusable(apiKey));
    });
}

async function run({
  target,
  preset: { preset },
  slots,
  batchTokens,
  out,
  json,
  iOwnThisTarget: ownsTarget,
  ...flags
}: CalibrateFlags & { readonly apiKey: string | undefined }): Promise<void> {
  const base = { ...preset, slots: slots ?? preset.slots, batchTokens: batchTokens ?? preset.batchTokens };
  const options = { ...flags, target, ownsTarget, base, onProgress: showProgress };
  const early = new Interrupted('stopped before it was done');
  const result = await stoppable((signal) => calibratePreset({ ...options, signal }), early);
  const document = `${JSON.stringify(documentOf(target, result), undefined, 2)}\n`;
  if (out !== undefined) {
    writeFileSync(out, document);
    complain(`wrote ${out}`);
  }
  process.stdout.write(json ? document : tableOf(result));
}

const documentOf = (target: string, { preset, ...fit }: Calibration) => ({
  version: 1,
  preset,
  fit: { target, ...fit, isGood: isGood(fit.testErrors) },
});

function tableOf({ preset, model, requests, times, errors, testErrors }: Calibration): string {
  const rows = (Object.keys(TIMES) as TimeName[]).map((name) => {
    const { ms, relativeError, isTold } = times[name];
    const error = isTold ? `± ${percent(relativeError)}` : 'not identifiable';
    return `  ${TIMES[name].padEnd(50)}${ms.toPrecision(4).padStart(12)}  ${error}`;
  });
  const constants = Object.entries(preset).map(([name, value]) => `  ${name.padEnd(22)}${JSON.stringify(value)}`);
  return [
    `${model}: ${requests} requests`,
    '\nmilliseconds',
    ...rows,
    '\npreset',
    ...constants,
    '\nerror of the predicted times',
    `  fitted requests   ${errorText(errors)}`,
    `  unseen requests   ${errorText(testErrors)}`,
    `\n${verdictOf(testErrors)}\n`,
  ].join('\n');
}

const errorText = ({ median, worst, count }: RelativeErrors): string =>
  `median ${percent(median)}, worst ${percent(worst)}, of ${count}`;

function showProgress(done: number, all: number): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(done === all ? '\r\u001B[K' : `\r\u001B[K${done} of ${all} measurements`);
}
