/**
 * `npm run mutate`: plausible mistakes in the core (`mutants.yaml`), each of which a test must find. Exits with 1 when
 * fewer than 95 % are found, and with 2 when the list or the tests themselves are at fault.
 *
 *     npm run mutate -- --only idle-claims --jobs 1      mutants with this in their file or name
 *     npm run mutate -- --list                           prints them, and runs none
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { parse } from 'yaml';
import { bundle, readText, ROOT, testsFor } from './bundle.mjs';

const SCORE_MIN = 0.95;
/** A mutant is endless in a file of tests after this many times the slowest file without a mutant, and after this time. */
const ENDLESS = { times: 10, ms: 20_000 };
/** Heap of one run: the tests need 150 MB. */
const HEAP_MB = 768;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    list: { type: 'boolean', default: false },
  },
});
const print = (line) => process.stdout.write(`${line}\n`);

/** The mutants of a list, with their files. */
function readMutants(list) {
  const mutants = Object.entries(parse(readFileSync(list, 'utf8'))).flatMap(([file, own]) =>
    own.map((each) => ({ file, ...each })),
  );
  return mutants.filter(({ file, name }) => `${file} ${name}`.includes(values.only));
}

/** Why the mutant cannot be made; undefined: it can. */
function faultOf({ file, name, from, to }) {
  const times = existsSync(join(ROOT, file)) ? readText(file).split(from).length - 1 : 0;
  if (times === 1 && to !== from) return undefined;
  return `${file}: ${name}: its text is there ${times} times and not once: ${from}`;
}

/**
 * `killedBy`: the first test that fails with the mutant, or without one; undefined: none does. `times`: milliseconds of
 * each file of tests that was run. @throws when it cannot be built
 */
async function run(tests, mutant, file, limitMs) {
  writeFileSync(file, await bundle(tests, mutant));
  return new Promise((resolve) => {
    const worker = new Worker(new URL('worker.mjs', import.meta.url), {
      workerData: pathToFileURL(file).href,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      stdout: true,
      stderr: true,
    });
    const times = new Map();
    let [at, timer, sinceMs] = ['', undefined, 0];
    const end = (killedBy) => {
      clearTimeout(timer);
      void worker.terminate().then(() => resolve({ killedBy, times }));
    };
    worker.on('error', (error) => end(`${at}: ${error.code ?? error.message}`));
    worker.on('message', (message) => {
      if (at !== '') times.set(at, performance.now() - sinceMs);
      if (message.file === undefined) return end(message.killedBy);
      at = message.file;
      sinceMs = performance.now();
      clearTimeout(timer);
      if (limitMs !== undefined) timer = setTimeout(() => end(`${at}: endless`), limitMs);
    });
  });
}

/** Runs the tests with each mutant, and without. Returns those that survive, and what makes the result worthless. */
async function runAll(mutants, folder) {
  const suites = new Map(mutants.map(({ file }) => [testsFor(file).toSorted().join(), testsFor(file)]));
  const [survivors, faults] = [[], []];
  let [limitMs, allTimes] = [ENDLESS.ms, new Map()];
  const original = (tests) => async (file) => {
    const { killedBy, times } = await run(tests, undefined, file);
    limitMs = Math.max(limitMs, ENDLESS.times * Math.max(...times.values()));
    allTimes = new Map([...allTimes, ...times]);
    if (killedBy !== undefined) faults.push(`fails without a mutant: ${killedBy}`);
  };
  const changed = (mutant) => async (bundled) => {
    const startedAt = performance.now();
    const { file, name, equivalent } = mutant;
    const { killedBy } = await run(testsFor(file, allTimes), mutant, bundled, limitMs);
    const verdict = killedBy !== undefined ? 'killed' : equivalent === undefined ? 'SURVIVED' : 'equivalent';
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    print(`${verdict.padEnd(10)} ${seconds.padStart(5)} s  ${file}: ${name}`);
    if (killedBy !== undefined) print(`${' '.repeat(20)}by ${killedBy}`);
    if (verdict === 'SURVIVED') survivors.push(mutant);
    if (verdict === 'killed' && equivalent !== undefined) faults.push(`not equivalent: ${file}: ${name}`);
  };
  const all = async (jobs) => {
    const work = async (slot) => {
      for (let job = jobs.shift(); job !== undefined && faults.length === 0; job = jobs.shift())
        await job(join(folder, `${slot}.mjs`)).catch((error) => faults.push(error.message));
    };
    await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs)) }, (_, slot) => work(slot)));
  };
  await all([...suites.values()].map(original));
  await all(mutants.map(changed));
  return { survivors, faults };
}

async function main() {
  const mutants = readMutants(positionals[0] ?? join(ROOT, 'test/mutation/mutants.yaml'));
  if (values.list) for (const { file, name } of mutants) print(`${file}: ${name}`);
  const wrong = mutants.flatMap((mutant) => faultOf(mutant) ?? []);
  if (mutants.length === 0) wrong.push(`no mutant has ${values.only} in its file or name`);
  wrong.forEach(print);
  if (wrong.length > 0 || values.list) return wrong.length > 0 ? 2 : 0;

  // Two below the root, as the tests are, so that their paths to files hold.
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'dist', 'mutation-'));
  const { survivors, faults } = await runAll(mutants, folder).finally(() => rmSync(folder, { recursive: true }));
  faults.forEach(print);
  if (faults.length > 0) return 2;
  const counted = mutants.filter(({ equivalent }) => equivalent === undefined).length;
  const killed = counted - survivors.length;
  for (const { file, name } of survivors) print(`survived: ${file}: ${name}`);
  const score = `${((100 * killed) / Math.max(1, counted)).toFixed(1)} %`;
  print(`${killed} of ${counted} killed, ${score}; ${mutants.length - counted} equivalent`);
  return killed < SCORE_MIN * counted ? 1 : 0;
}

process.exitCode = await main();
