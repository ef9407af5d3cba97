import { loadavg } from 'node:os';
import { CommanderError } from 'commander';
import { printTable, say } from '../numbers.js';
import { makeLoad, QUICK, type Load } from './loads.js';
import { readOptions, type PeerOptions } from './options.js';
import { HEADINGS, rowsOf } from './report.js';
import { findRouter, SKIPPED } from './router.js';
import { run, TARGETS, type Run, type RunChoice } from './run.js';

const complain = (text: string) => process.stderr.write(`bench:peers: ${text}\n`);

/** Runs one command line. Returns its exit code: 0 when all runs gave figures or the peer is missing, 2 for wrong usage. */
export async function main(argv: readonly string[]): Promise<number> {
  let options: PeerOptions, router: string | undefined, loads: Load[];
  try {
    options = readOptions(argv);
    router = findRouter(options.router, process.env['PATH'] ?? '');
    const { traces } = options;
    loads = options.quick ? [QUICK] : options.loads.map((name) => makeLoad(name, traces));
  } catch (error) {
    // Commander has said itself what was wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    complain(error instanceof Error ? error.message : String(error));
    return 2;
  }
  if (router !== undefined) return compare(options, router, loads);
  say(options.json ? JSON.stringify({ version: 1, skipped: SKIPPED, runs: [] }, undefined, 2) : SKIPPED);
  return 0;
}

async function compare(options: PeerOptions, router: string, loads: readonly Load[]): Promise<number> {
  const runs: Run[] = [];
  const failures: string[] = [];
  for (const choice of plan(options, router, loads)) {
    const title = `${choice.load.title}, ${choice.target}, seed ${choice.seed}`;
    complain(`${title} (load average ${(loadavg()[0] ?? NaN).toFixed(1)})`);
    try {
      const result = await run(choice);
      for (const warning of result.warnings) complain(`${title}: ${warning}`);
      runs.push(result);
    } catch (error) {
      failures.push(`${title}: ${error instanceof Error ? error.message : String(error)}`);
      complain(failures.at(-1) ?? '');
    }
  }
  if (options.json) say(JSON.stringify({ version: 1, router, runs, failures }, undefined, 2));
  else for (const { title } of loads) printLoad(title, runs.filter((each) => each.load === title)); // prettier-ignore
  return failures.length === 0 ? 0 : 1;
}

/** Targets take turns, the other way round every second time: whatever drifts must not be one target's alone. */
export function plan(options: PeerOptions, router: string, loads: readonly Load[]): RunChoice[] {
  const { seeds, timeLimit } = options;
  return seeds.flatMap((seed, round) =>
    loads.flatMap((load) => {
      const order = round % 2 === 0 ? TARGETS : TARGETS.toReversed();
      return order.map((target) => ({ load, target, seed, router, timeLimit }));
    }),
  );
}

function printLoad(title: string, runs: readonly Run[]): void {
  say(`\n${title}; model time\n`);
  printTable(HEADINGS, rowsOf(runs));
}
