import { parseArgs } from 'node:util';
import { benchDecisions } from './core/decisions.js';
import { benchProgramBytes } from './core/program-bytes.js';
import { benchLatency } from './gateway/latency.js';
import { benchStreams } from './gateway/streams.js';
import { benchThroughput } from './gateway/throughput.js';
import { benchHistory } from './history/identify.js';
import { say } from './numbers.js';
import { ensurePackages } from './packages.js';

/** Every bench by name, in the order in which all are run. docs/EXPERIMENTS.md tells what they printed. */
const BENCHES = {
  core: benchDecisions,
  memory: benchProgramBytes,
  history: benchHistory,
  latency: benchLatency,
  streams: benchStreams,
  throughput: benchThroughput,
} satisfies Record<string, (quick: boolean) => void | Promise<void>>;

const isName = (name: string): name is keyof typeof BENCHES => Object.hasOwn(BENCHES, name);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } });
  const unknown = positionals.find((name) => !isName(name));
  if (unknown !== undefined) {
    say(`unknown bench '${unknown}'; there are: ${Object.keys(BENCHES).join(', ')}`);
    return 2;
  }
  const wanted = Object.entries(BENCHES).filter(([name]) => positionals.length === 0 || positionals.includes(name));
  ensurePackages();
  say(`Node ${process.versions.node}, ${values.quick === true ? 'quick run: times are rough' : 'full run'}`);
  for (const [name, bench] of wanted) {
    say(`\n=== ${name} ===\n`);
    await bench(values.quick === true);
  }
  return 0;
}

process.exitCode = await main();
