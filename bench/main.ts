import { Argument, Command } from 'commander';
import { benchCluster } from './cluster/calls.js';
import { benchGateways, benchPressure } from './cluster/gateways.js';
import { benchDecisions } from './core/decisions.js';
import { benchProgramBytes } from './core/program-bytes.js';
import { benchLatency } from './gateway/latency.js';
import { benchLargeBodies } from './gateway/large-bodies.js';
import { benchStreams } from './gateway/streams.js';
import { benchThroughput } from './gateway/throughput.js';
import { say } from './numbers.js';
import { sayDisturbance, watchOthers } from './disturbance.js';
import { benchOrder } from './order.js';
import { benchParts } from './parts.js';

interface Bench {
  readonly run: (quick: boolean) => void | Promise<void>;
  /** Seconds of a quick run on two idle cores. Long ones run by name only. */
  readonly quickSeconds: number;
}

/** All benches by name, in their usual order. lab/NOTEBOOK.md has their results. */
const BENCHES: Readonly<Record<string, Bench>> = {
  core: { run: benchDecisions, quickSeconds: 11 },
  memory: { run: benchProgramBytes, quickSeconds: 3 },
  latency: { run: benchLatency, quickSeconds: 13 },
  streams: { run: benchStreams, quickSeconds: 13 },
  bodies: { run: benchLargeBodies, quickSeconds: 16 },
  throughput: { run: benchThroughput, quickSeconds: 12 },
  cluster: { run: benchCluster, quickSeconds: 14 },
  pressure: { run: benchPressure, quickSeconds: 1 },
  gateways: { run: benchGateways, quickSeconds: 4 },
  parts: { run: benchParts, quickSeconds: 60 },
  order: { run: benchOrder, quickSeconds: 60 },
};

const QUICK_SECONDS_MAX = 15;

const command = new Command('bench')
  .description('Measures what the gateway and the scheduler cost, against other proxies.')
  .addArgument(new Argument('[names...]', 'what to run; absent: all').choices(Object.keys(BENCHES)))
  .option('--quick', 'fewer and shorter rounds, whose times are rough: short benches in two minutes', false)
  .showHelpAfterError()
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const { quick } = command.opts<{ readonly quick: boolean }>();

const isLong = ({ quickSeconds }: Bench) => quick && quickSeconds > QUICK_SECONDS_MAX;
const chosen = Object.entries(BENCHES).filter(([name, bench]) =>
  command.args.length === 0 ? !isLong(bench) : command.args.includes(name),
);
const left = Object.keys(BENCHES).filter((name) => !chosen.some(([other]) => other === name));
const seconds = chosen.reduce((sum, [, { quickSeconds }]) => sum + quickSeconds, 0);

say(
  quick
    ? `Node ${process.versions.node}, quick run, whose times are rough: about ${seconds} s, longer on a busy machine`
    : `Node ${process.versions.node}, full run: an hour or more for all benches, see --quick`,
);
if (command.args.length === 0 && left.length > 0) say(`Only by name: ${left.join(', ')}`);
for (const [index, [name, { run }]] of chosen.entries()) {
  say(`\n=== ${name} (${index + 1} of ${chosen.length}) ===\n`);
  const disturbance = watchOthers();
  await run(quick);
  say(`\n${sayDisturbance(disturbance())}`);
}
