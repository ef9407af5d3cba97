/**
 * `npm run demo`: 30 agents at once, on two model engines whose KV caches hold a third of their contexts, in virtual time:
 * no scheduling, the gate alone, gate and order. Further options are those of `maitred sim`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const TRACES = '../shared/traces/mini-swe-agent';
const PRESET = 'llama-3.1-8b-a100';

const given = process.argv.slice(2);
const isGiven = (...names) => names.some((name) => given.includes(name));

/** The recordings where they usually are; synthetic agents in their place. */
function programs() {
  if (isGiven('--trace', '--workload')) return [];
  const file = existsSync(TRACES) && readdirSync(TRACES).find((name) => /\.jsonl(\.gz)?$/.test(name));
  if (!file) process.stderr.write(`no recorded programs in ${TRACES}: synthetic ones instead\n`);
  return file ? ['--trace', join(TRACES, file), '--gap-max', '60s'] : ['--workload', 'coding'];
}

/** An option, unless that or one in its place is given. */
const option = (name, value, ...others) => (isGiven(name, ...others) ? [] : [name, value]);

const args = [
  ...['sim', ...programs()],
  ...option('--concurrency', '30', '--rate', '--trace-timed'),
  ...option('--programs', '30'),
  ...option('--engines', '2'),
  ...option('--kv-tokens', '110500'),
  ...option('--preset', `${PRESET},${PRESET}:low,${PRESET}:high`),
  ...option('--seed', '1,2,3'),
  ...given,
];
process.stderr.write(`maitred ${args.join(' ')}\n\n`);
process.exitCode = spawnSync(process.execPath, ['dist/cli/main.js', ...args], { stdio: 'inherit' }).status ?? 1;
