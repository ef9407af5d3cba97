/**
 * Lints and checks types. The checks run at the same time, two cores' worth, and each says its findings in one piece.
 * Names of checks as arguments choose among them; it fails if any of them does. Behind `--` stands a command that runs
 * beside them, with the terminal to itself: what they find is said when it has ended.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Each list of checks runs one after another, beside the others: typed linting takes about as long as all others. */
const LANES = [
  { eslint: ['eslint/bin/eslint.js', '--max-warnings', '0', '.'] },
  {
    types: ['typescript/bin/tsc', '-b'],
    prettier: ['prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '--cache', '.'],
    knip: ['knip/bin/knip.js'],
  },
];

/** A sign of life in between. */
const ALIVE_MS = 15_000;
const running = new Set();

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const words = process.argv.slice(2);
const split = words.includes('--') ? words.indexOf('--') : words.length;
const [chosen, [command, ...args]] = [words.slice(0, split), words.slice(split + 1)];
const known = LANES.flatMap(Object.keys);
const unknown = chosen.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`maitred: no such check: ${unknown.join(', ')}; there are ${known.join(', ')}\n`);
  process.exit(2);
}

const since = Date.now();
const say = (text) => process.stderr.write(`maitred: ${text}\n`);

/** What runs beside the checks; its exit status, 0 where there is none. */
const options = { stdio: 'inherit', shell: process.platform === 'win32' };
const beside =
  command === undefined
    ? [0]
    : once(spawn(command, args, options), 'close').catch(({ message }) => {
        say(`${command} cannot be started: ${message}`);
        return [127];
      });

/** Whether the check found nothing. */
async function check(name, [script, ...args]) {
  const begun = Date.now();
  running.add(name);
  const child = spawn(process.execPath, [`node_modules/${script}`, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [status] = await once(child, 'close');
  running.delete(name);
  const tookS = Math.round((Date.now() - begun) / 1000);
  await beside;
  process.stderr.write(output);
  say(`${name} ${status === 0 ? 'passed' : 'failed'} (${tookS} s)`);
  return status === 0;
}

const alive = setInterval(() => {
  const names = [...running].join(' and ');
  if (command === undefined) say(`after ${Math.round((Date.now() - since) / 1000)} s: running ${names}`);
}, ALIVE_MS);
const results = await Promise.all(
  LANES.map(async (lane) => {
    let ok = true;
    for (const [name, command] of Object.entries(lane))
      if (chosen.length === 0 || chosen.includes(name)) ok = (await check(name, command)) && ok;
    return ok;
  }),
);
clearInterval(alive);
const [status] = await beside;
process.exitCode = results.every(Boolean) && status === 0 ? 0 : 1;
