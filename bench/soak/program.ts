import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { numberFrom } from '../../cli/options.js';
import { sayDisturbance, watchOthers, type Disturbance } from '../disturbance.js';
import { makeRandom, mean, printTable, say, show } from '../numbers.js';
import { Agents } from './agents.js';
import { disturb } from './disturb.js';
import { AFTERWARDS, judge, notBack, Sampler } from './samples.js';
import { ENGINES, RATE, Stage, type SoakOptions } from './stage.js';

const SAMPLE_MS = 5000;
/** Leases, kept places and idle connections end by then. */
const BACK_MS_MAX = 180_000;

export function readOptions(argv: readonly string[]) {
  const command = new Command('soak')
    .description('Keeps a gateway under streams, faults, kills and reloads, and tells whether it stays as it was.')
    .option('--minutes <count>', 'how long the load lasts', numberFrom(0.2, 10_000), 60)
    .option('--streams <count>', 'streams at once', numberFrom(1, 20_000, 'a whole number'), 2000)
    .option('--seed <number>', 'of what agents and engines do', numberFrom(0, 1e9, 'a whole number'), 1)
    .option('--json <file>', 'writes every sample')
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse(argv, { from: 'user' });
  const given = command.opts<SoakOptions & { readonly json?: string }>();
  return { ...given, warmUp: Math.min(10, given.minutes / 5) };
}

/** Runs one command line. Returns its exit code: 0 when all stayed flat and nothing was lost, 1 when not, 2 for wrong usage. */
export async function main(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  const stage = new Stage(options);
  const disturbance = watchOthers();
  try {
    await stage.open();
    const outcome = await soak(stage, options);
    return report(outcome, options, disturbance());
  } finally {
    await stage.close();
  }
}

async function soak(stage: Stage, options: SoakOptions) {
  const random = makeRandom(options.seed);
  const idle = new Sampler(stage);
  // Two, as the first lag is of the start. What is idle at most is what it must come back to.
  await idle.take();
  await sleep(SAMPLE_MS);
  const before = await idle.take();
  const sampler = new Sampler(stage);
  const agents = new Agents(stage.gateway.url, random);
  const over = AbortSignal.timeout(options.minutes * 60_000);
  const load = agents.run(options.streams, over);
  const disturbed = disturb(stage, random, over);
  while (!over.aborted) {
    await sleep(SAMPLE_MS);
    const { minutes, rssMb, calls, loopP99Ms, gatewayCpu } = await sampler.take();
    if (sampler.samples.length % 12 === 0)
      say(
        `${minutes.toFixed(0)} min: ${calls} calls, ${agents.programs} programs, ${show(rssMb)} MB, loop p99 ${show(loopP99Ms)} ms, ${show(100 * gatewayCpu)} % of a core, ${agents.calls.lost} lost`,
      );
  }
  const done = await disturbed;
  await load;
  await stage.allUp();
  const until = performance.now() + BACK_MS_MAX;
  let after = await idle.take();
  while (notBack(before, after).length > 0 && performance.now() < until) {
    await sleep(SAMPLE_MS);
    after = await idle.take();
  }
  return { before, samples: sampler.samples, after, agents, done };
}

function report(
  { before, samples, after, agents, done }: Awaited<ReturnType<typeof soak>>,
  options: ReturnType<typeof readOptions>,
  disturbance: Disturbance,
): number {
  const measured = samples.filter(({ minutes }) => minutes >= options.warmUp && minutes <= options.minutes);
  const rows = judge(measured);
  const back = notBack(before, after);
  const cores = (name: 'gatewayCpu' | 'enginesCpu' | 'driverCpu') => show(mean(measured.map((each) => each[name])));
  say(`\n${options.streams} agents for ${options.minutes} minutes, ${ENGINES} engines, ${RATE} tokens a second and stream. Cores: gateway ${cores('gatewayCpu')}, engines ${cores('enginesCpu')}, load ${cores('driverCpu')}.
${sayDisturbance(disturbance)}
${done.faults} faults, ${done.kills} kills of engines, ${done.reloads} reloads.\n`);
  printTable(
    ['after the warm-up', 'first quarter', 'last quarter', 'an hour', 'at most', 'flat'],
    rows.map(({ title, first, last, slopePerHour, share, beside, flat }) => [
      title,
      show(first),
      show(last),
      show(slopePerHour),
      show(first * (1 + share) + beside),
      flat ? 'yes' : 'NO',
    ]),
  );
  say('');
  printTable(
    ['when all was over', 'before the load', 'after it'],
    AFTERWARDS.map(([measure]) => [measure, show(before[measure]), show(after[measure])]),
  );
  const { calls, refused, programs } = agents;
  say(`\nCalls: ${calls.whole} whole, ${calls.told} told of an error, ${calls.left} whose client left, ${calls.lost} lost without an error, of ${programs} programs. ${refused} bad requests refused.
Gateway: ${after.accepted} accepted, ${after.ended} ended, ${after.violations} violations of invariants.`);
  for (const example of agents.examples) say(`  lost: ${example}`);
  if (options.json !== undefined)
    writeFileSync(options.json, JSON.stringify({ options, disturbance, samples, before, after }));
  const failures = [
    ...rows.flatMap(({ title, flat }) => (flat ? [] : [`not flat: ${title}`])),
    ...back.map((measure) => `not back to what it was: ${measure}`),
    ...(calls.lost > 0 ? [`${calls.lost} calls lost`] : []),
    ...(after.violations > 0 ? [`${after.violations} violations of invariants`] : []),
    ...(after.accepted === after.ended ? [] : ['accepted calls are not those that ended']),
  ];
  say(failures.length === 0 ? '\nFlat, and nothing lost.' : `\n${failures.join('\n')}`);
  return failures.length === 0 ? 0 : 1;
}
