import { CommanderError } from 'commander';
import { sayDisturbance } from '../disturbance.js';
import { printTable, say } from '../numbers.js';
import { makeLoad, QUICK, type Load } from './loads.js';
import { readOptions, type PeerOptions } from './options.js';
import { brief, HEADINGS, rowsOf } from './report.js';
import { findRouter, SKIPPED } from './router.js';
import { run, type Run, type RunChoice, type TargetName } from './run.js';

const complain = (text: string) => process.stderr.write(`bench:peers: ${text}\n`);

/** Runs one command line. Returns its exit code: 0 when all runs gave figures or the peer is missing, 2 for wrong usage. */
export async function main(argv: readonly string[]): Promise<number> {
  let options: PeerOptions, router: string | undefined, loads: Load[];
  try {
    options = readOptions(argv);
    router = findRouter(options.router, process.env['PATH'] ?? '');
    loads = loadsOf(options);
  } catch (error) {
    // Commander has already reported the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    complain(error instanceof Error ? error.message : String(error));
    return 2;
  }
  if (router !== undefined || !options.targets.includes('vllm-router')) return compare(options, router, loads);
  say(options.json ? JSON.stringify({ version: 1, skipped: SKIPPED, runs: [] }, undefined, 2) : SKIPPED);
  return 0;
}

export function loadsOf({
  quick,
  loads,
  traces,
  engine,
  speed = engine.length > 0 ? 1 : undefined,
}: PeerOptions): Load[] {
  const chosen = quick ? [QUICK] : loads.map((name) => makeLoad(name, traces));
  return speed === undefined ? chosen : chosen.map((load) => ({ ...load, speed }));
}

async function compare(options: PeerOptions, router: string | undefined, loads: readonly Load[]): Promise<number> {
  const runs: Run[] = [];
  const failures: string[] = [];
  for (const choice of plan(options, router, loads)) {
    const title = `${choice.load.title}, ${choice.target}, seed ${choice.seed}`;
    complain(title);
    try {
      const result = await run(choice);
      for (const warning of result.warnings) complain(`${title}: ${warning}`);
      for (const [name, example] of Object.entries(result.errors)) complain(`${title}: ${name}: ${example}`);
      complain(`${title}: ${brief(result)}`);
      complain(sayDisturbance(result.disturbance));
      runs.push(result);
    } catch (error) {
      failures.push(`${title}: ${error instanceof Error ? error.message : String(error)}`);
      complain(failures.at(-1) ?? '');
    }
  }
  if (options.json) say(JSON.stringify({ version: 1, router, runs, failures }, undefined, 2));
  else for (const load of loads) printLoad(load, options.targets, runs.filter((each) => each.load === load.title)); // prettier-ignore
  return failures.length === 0 ? 0 : 1;
}

/** Targets take turns, in reverse order every second time, so that drift does not favour one of them. */
export function plan(options: PeerOptions, router: string | undefined, loads: readonly Load[]): RunChoice[] {
  const { seeds, timeLimit, targets, engine } = options;
  return seeds.flatMap((seed, round) =>
    loads.flatMap((load, index) => {
      const order = (round + index) % 2 === 0 ? targets : targets.toReversed();
      return order.map((target) => ({ load, target, seed, router, engine, timeLimit }));
    }),
  );
}

function printLoad({ title, speed }: Load, targets: readonly TargetName[], runs: readonly Run[]): void {
  say(`\n${title}; model time, ${speed} times as fast as real\n`);
  printTable(HEADINGS, rowsOf(runs, targets));
}
