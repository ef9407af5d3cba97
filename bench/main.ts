import { Argument, Command } from 'commander';
import { benchCluster } from './cluster/calls.js';
import { benchPressure } from './cluster/pressure.js';
import { benchGateways } from './cluster/scale.js';
import { benchStore } from './cluster/store.js';
import { benchDecisions } from './core/decisions.js';
import { benchProgramBytes } from './core/program-bytes.js';
import { benchSteps } from './engine/steps.js';
import { benchLatency } from './gateway/latency.js';
import { benchLargeBodies } from './gateway/large-bodies.js';
import { benchObserved } from './gateway/observed.js';
import { benchRelay } from './gateway/relay.js';
import { benchStreams } from './gateway/streams.js';
import { benchThroughput } from './gateway/throughput.js';
import { benchHistory } from './history/identify.js';
import { benchIdentity } from './identity/table.js';
import { benchLoad } from './load/generator.js';
import { say } from './numbers.js';
import { ensurePackages } from './packages.js';
import { benchSimulator } from './simulator/speed.js';

/** All benches by name, in their usual order. docs/EXPERIMENTS-DETAILS.md has their results. */
const BENCHES = {
  core: benchDecisions,
  memory: benchProgramBytes,
  history: benchHistory,
  identity: benchIdentity,
  engine: benchSteps,
  simulator: benchSimulator,
  latency: benchLatency,
  streams: benchStreams,
  relay: benchRelay,
  bodies: benchLargeBodies,
  throughput: benchThroughput,
  observed: benchObserved,
  load: benchLoad,
  store: benchStore,
  cluster: benchCluster,
  gateways: benchGateways,
  pressure: benchPressure,
} satisfies Record<string, (quick: boolean) => void | Promise<void>>;

const command = new Command('bench')
  .description('Measures what the gateway, the scheduler and the load tester cost, against other proxies.')
  .addArgument(new Argument('[names...]', 'what to run; absent: all').choices(Object.keys(BENCHES)))
  .option('--quick', 'a short run, whose times are rough', false)
  .showHelpAfterError()
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const { quick } = command.opts<{ readonly quick: boolean }>();

ensurePackages();
say(`Node ${process.versions.node}, ${quick ? 'quick run: times are rough' : 'full run'}`);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (command.args.length > 0 && !command.args.includes(name)) continue;
  say(`\n=== ${name} ===\n`);
  await bench(quick);
}
