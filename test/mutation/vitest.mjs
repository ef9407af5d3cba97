/**
 * Takes vitest's place in a bundle of tests, and collects them instead of running them. `expect` and `vi` are vitest's
 * own, which need no runner but for the settings of fake timers.
 */
import { format } from 'node:util';

export { expect, vi } from 'vitest';

globalThis.__vitest_worker__ ??= { config: { fakeTimers: {} } };

const HOOKS = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'];
const suiteOf = (name) => ({ name, parts: [], ...Object.fromEntries(HOOKS.map((hook) => [hook, []])) });

let current = suiteOf('');
/** What the running test undoes at its end. */
let finishers = [];

/** The tests defined since the last call. */
export function collected() {
  const suite = current;
  current = suiteOf('');
  return suite;
}

function defineSuite(name, define) {
  const outer = current;
  current = suiteOf(name);
  outer.parts.push(current);
  define();
  current = outer;
}

/** Its time limit, before or after the test, is left to the parent's. */
const defineTest = (name, ...rest) =>
  current.parts.push({ name, run: rest.find((each) => typeof each === 'function') });

/** Adds the forms for tables and conditions. */
function withForms(define) {
  const each = (rows) => (name, run) => {
    for (const row of rows) {
      const values = Array.isArray(row) ? row : [row];
      define(format(name, ...values), () => run(...values));
    }
  };
  const forRows = (rows) => (name, run) => {
    for (const row of rows) define(format(name, ...(Array.isArray(row) ? row : [row])), (context) => run(row, context));
  };
  const skipIf = (isSkipped) => (isSkipped ? () => undefined : define);
  return Object.assign(define, { each, skipIf, for: forRows });
}

export const describe = withForms(defineSuite);

/** Tests that get fixtures, each made anew for a test from those before it. */
function withFixtures(fixtures) {
  const define = (name, ...rest) => {
    const run = rest.find((each) => typeof each === 'function');
    defineTest(name, async () => {
      const made = {};
      for (const [fixture, make] of fixtures) made[fixture] = await make(made);
      return run(made);
    });
  };
  const extend = (name, make) => withFixtures([...fixtures, [name, make]]);
  return Object.assign(withForms(define), { extend });
}
export const it = withFixtures([]);
export const [beforeAll, beforeEach, afterEach, afterAll] = HOOKS.map((hook) => (run) => void current[hook].push(run));
export const onTestFinished = (run) => void finishers.push(run);

/** Runs tests until one fails. Returns its name; undefined when all pass. */
export async function firstFailure(suite, outer = []) {
  const suites = [...outer, suite];
  const named = (name) => [...suites.map((each) => each.name), name].filter((each) => each !== '').join(' > ');
  try {
    for (const hook of suite.beforeAll) await hook();
    for (const part of suite.parts) {
      const failed = part.run === undefined ? await firstFailure(part, suites) : !(await passes(part, suites));
      if (failed !== false && failed !== undefined) return failed === true ? named(part.name) : failed;
    }
    for (const hook of suite.afterAll) await hook();
    return undefined;
  } catch {
    return named('its hooks');
  }
}

async function passes({ run }, suites) {
  finishers = [];
  try {
    for (const hook of suites.flatMap((suite) => suite.beforeEach)) await hook();
    await run();
    for (const hook of [...suites.toReversed().flatMap((suite) => suite.afterEach), ...finishers.toReversed()])
      await hook();
    return true;
  } catch {
    return false;
  }
}
