import { parseArgs } from 'node:util';
import { runSeed, type Outcome } from './run.js';

/** The campaign from the command line; see README.md beside it. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1000' },
    gateways: { type: 'string', default: '1' },
    hashes: { type: 'boolean', default: false },
    stop: { type: 'boolean', default: false },
  },
});

const PROGRESS_SEEDS = 1000;
const GATEWAYS = Number(values.gateways);

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** One seed, told in full. */
async function replay(seed: number): Promise<boolean> {
  const outcome = await runSeed(seed, GATEWAYS);
  print(outcome.lines.join('\n'));
  tell(outcome);
  return outcome.wrongs.length === 0;
}

async function campaign(from: number, seeds: number): Promise<boolean> {
  const failed: number[] = [];
  let calls = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const outcome = await runSeed(seed, GATEWAYS);
    calls += outcome.calls;
    if (values.hashes) print(`${seed} ${outcome.hash}`);
    if (outcome.wrongs.length > 0) {
      failed.push(seed);
      tell(outcome);
      if (values.stop) break;
    }
    if ((seed - from + 1) % PROGRESS_SEEDS === 0)
      print(`${seed - from + 1} seeds, ${calls} calls, ${failed.length} failed`);
  }
  print(failed.length === 0 ? `all held: ${seeds} seeds from ${from}, ${calls} calls` : `failed: ${failed.join(' ')}`);
  return failed.length === 0;
}

function tell({ seed, hash, wrongs }: Outcome): void {
  print(`seed ${seed}, trace ${hash}: ${wrongs.length === 0 ? 'all held' : `\n  ${wrongs.join('\n  ')}`}`);
  if (wrongs.length > 0) print(`  replay: npm run test:campaign -- --gateways ${GATEWAYS} --seed ${seed}`);
}

const { seed, from, seeds } = values;
const held = await (seed === undefined ? campaign(Number(from), Number(seeds)) : replay(Number(seed)));
process.exitCode = held ? 0 : 1;
