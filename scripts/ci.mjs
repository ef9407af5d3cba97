/**
 * `npm test`, lint, the tests that take too long for it, and the test suite once more on the newest Node that is supported.
 * The last line tells the counts of all; a step that ends badly without a failed test to its name (lint, types, a
 * crash) counts as one failure. The lines before it name the failures of all steps: a log's end is all that is needed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const NEWEST = 24;
const scratch = mkdtempSync(join(tmpdir(), 'maitred-ci-'));
const total = { passed: 0, failed: 0, skipped: 0 };
const MESSAGE_LINES = 4;
/** What failed, in lines to print at the end. */
const failures = [];

/** Random runs are many more than in `npm test`, and recordings whole, on the newest Node only. */
const MORE = {
  TEST_SEEDS: '1000',
  TEST_FLEETS: '60',
  TEST_SEQUENCES: '720',
  TEST_INPUTS: '5000',
  TEST_PROGRAMS: 'Infinity',
};

function run(command, args, more = {}) {
  process.stdout.write(`\n$ ${[command, ...args].join(' ')}\n`);
  const env = { ...process.env, ...more };
  return spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env }).status === 0;
}

/** The failed tests of a file, or the file's own failure, each with the beginning of its message. */
function failuresOf(suite, { name, status, message, assertionResults }) {
  const file = relative('.', name);
  const failed = assertionResults
    .filter((test) => test.status === 'failed')
    .map(({ fullName, failureMessages }) => [`${file}: ${fullName}`, failureMessages[0] ?? '']);
  if (failed.length === 0 && status === 'failed') failed.push([file, message]);
  return failed.map(([title, text]) => {
    const lines = stripVTControlCharacters(text).split('\n').slice(0, MESSAGE_LINES);
    return [`FAILED [${suite}] ${title}`, ...lines.map((line) => `    ${line}`)].join('\n');
  });
}

/** Runs a command that takes vitest's reporter options, and adds up what its report says. */
function suite(name, command, args, more) {
  const report = join(scratch, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const ok = run(command, [...args, ...reporters], more);
  const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
  const failed = counts.numFailedTests ?? 0;
  const told = (counts.testResults ?? []).flatMap((file) => failuresOf(name, file));
  if (!ok && told.length === 0) told.push(`FAILED [${name}] outside its tests, see above`);
  failures.push(...told);
  total.passed += counts.numPassedTests ?? 0;
  total.failed += ok ? failed : Math.max(1, failed);
  total.skipped += (counts.numPendingTests ?? 0) + (counts.numTodoTests ?? 0);
}

/** npm's `node` package carries the binary. Kept outside the project: it is no dependency. Undefined: not to be had. */
function installNode() {
  const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const folder = join(scratch, 'node');
  const name = `node-${process.platform}-${process.arch}@${NEWEST}`;
  return run('npm', ['install', '--prefix', folder, ...options, name])
    ? join(folder, 'node_modules', name.split('@')[0], 'bin', 'node')
    : undefined;
}

try {
  suite('default', 'npm', ['test', '--']);
  if (!run('npm', ['run', 'lint'])) {
    total.failed += 1;
    failures.push('FAILED: lint, see above');
  }
  suite('long', 'npm', ['run', 'test:long', '--']);
  const node = installNode();
  if (node === undefined) {
    total.failed += 1;
    failures.push(`FAILED: Node ${NEWEST} could not be installed, see above`);
  } else suite(`node${NEWEST}`, node, ['node_modules/vitest/vitest.mjs', 'run'], MORE);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const failure of failures) process.stdout.write(`${failure}\n`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;
