/**
 * `npm run demo`: agents whose contexts outgrow the KV cache of a model engine, in virtual time: no scheduling, the gate
 * alone, gate and order. Further options are those of `maitred sim`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const TRACES = '../shared/traces/mini-swe-agent';
const BYTES_MAX = 2 ** 28;

const given = process.argv.slice(2);
const isGiven = (...names) => names.some((name) => given.includes(name));

/** The recordings where they usually are; synthetic agents in their place. */
function programs() {
  if (isGiven('--trace', '--workload')) return [];
  const file = existsSync(TRACES) && readdirSync(TRACES).find((name) => /\.jsonl(\.gz)?$/.test(name));
  return file ? ['--trace', join(TRACES, file), '--gap-max', '60s'] : ['--workload', 'coding'];
}

/** An option, unless that or one in its place is given. */
const option = (name, value, ...others) => (isGiven(name, ...others) ? [] : [name, value]);

const args = [
  ...['sim', ...programs()],
  ...option('--concurrency', '32', '--rate', '--trace-speed'),
  ...option('--programs', '100'),
  ...option('--seed', '1,2,3'),
  ...given,
];

/** The outcome in words. @param document of `maitred sim --json` */
function told({ runs }) {
  const policies = [...new Set(runs.map(({ policy }) => policy))];
  const mean = (policy, of) => {
    const own = runs.filter((run) => run.policy === policy).map(of);
    return own.reduce((sum, value) => sum + value, 0) / own.length;
  };
  const seconds = (policy) => mean(policy, (run) => run.program_seconds.mean);
  const times = (policy) => {
    const ratio = seconds(policies[0]) / seconds(policy);
    return ratio < 1 ? `${(1 / ratio).toFixed(1)}x slower` : `${ratio.toFixed(1)}x faster`;
  };
  const rows = policies.map((policy) => [
    NAMES[policy] ?? policy,
    `${Math.round(seconds(policy))} s`,
    policy === policies[0] ? '' : times(policy),
    ...['p50', 'p99'].map((each) => `${figure(mean(policy, (run) => run.ttft_seconds[each]))} s`),
    `${Math.round(100 * mean(policy, (run) => run.prefix_hit_rate))} %`,
  ]);
  return [
    ...table([['', 'agent time', '', 'first token', 'its p99', 'cached'], ...rows]),
    '',
    ...priceOf(policies.map((policy) => mean(policy, (run) => run.ttft_seconds.p99))),
  ];
}

const NAMES = {
  'pass-through': 'no scheduling',
  'fcfs-window': 'gate: only what caches hold',
  plas: 'gate and order (maitred)',
};

/** The cost of the last policy, where it is more than a tenth. @param p99s of first tokens, by policy */
function priceOf(p99s) {
  const [before, after] = [p99s[0], p99s.at(-1)];
  return after > 1.1 * before
    ? [`The price: one first token in a hundred waits ${figure(after)} s or more, instead of ${figure(before)} s.`]
    : [];
}

const figure = (value) => (value < 10 ? value.toPrecision(2) : Math.round(value));

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
      .join('  ')
      .trimEnd(),
  );
}

// The table is of policies alone.
const isPlain = isGiven('--json', '--help', '-h', '--preset');
const show = (lines) => process.stdout.write(`${lines.join('\n')}\n`);
if (!isPlain && given.length === 0)
  show(['100 coding agents, 32 at a time, whose contexts outgrow the KV cache of one simulated A100.', '']);
const { status, stdout } = spawnSync(process.execPath, ['dist/cli/main.js', ...args, ...(isPlain ? [] : ['--json'])], {
  stdio: ['inherit', isPlain ? 'inherit' : 'pipe', 'inherit'],
  maxBuffer: BYTES_MAX,
});
process.exitCode = status ?? 1;
if (!isPlain && status === 0)
  show([
    ...told(JSON.parse(stdout)),
    `All figures: npx maitred ${args.join(' ')}`,
    '',
    'Next: npm start, then "Send a demo fleet" on the page that it names. Your own engines: npx maitred init',
  ]);
