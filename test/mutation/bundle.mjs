/** Which tests may tell a mutant from the original, and a bundle of them in which the mutant takes its place. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SHIM = fileURLToPath(new URL('vitest.mjs', import.meta.url));
const TESTS = 'virtual:tests';

/** Tests of each room, the quickest to find a fault first. Other rooms have those of the source's own folder. */
const CLUSTER = ['cluster', 'sim/virtual/gateways.test.ts'];
const CORE = ['src', 'conformance', 'loadbalancer', ...CLUSTER, 'invariants'];
// The store in memory is in the simulator, and is what tests of the cluster share.
const PLACES = { src: CORE, loadbalancer: CORE, cluster: CLUSTER, sim: CLUSTER };

/** The tests to run: those that mirror the source file first, then those of its folder; of equal ones the quickest. */
export function testsFor(source, times = new Map()) {
  const tests = (PLACES[source.split('/', 1)[0]] ?? [dirname(source)]).flatMap((place) => listTests(`test/${place}`));
  const distance = (test) =>
    [source.slice(0, -'.ts'.length), dirname(source)].findIndex((own) => test.startsWith(`test/${own}`));
  const rank = (test) => (distance(test) < 0 ? 2 : distance(test));
  return tests.toSorted((a, b) => rank(a) - rank(b) || (times.get(a) ?? 0) - (times.get(b) ?? 0));
}

function listTests(place) {
  const all = place.endsWith('.ts')
    ? [place]
    : readdirSync(join(ROOT, place), { recursive: true }).map((each) => join(place, each));
  return all.filter((file) => file.endsWith('.test.ts')).sort();
}

export const readText = (file) => readFileSync(join(ROOT, file), 'utf8');

/** The source file's text with the mutant in it. */
export const mutated = ({ file, from, to }) => readText(file).replace(from, () => to);

/** One module that exports the tests in order, each to be loaded by a call. */
export async function bundle(tests, mutant) {
  // Half a second, which a list of mutants alone can do without.
  const { build } = await import('vite');
  const { output } = await build({
    root: ROOT,
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'error',
    plugins: [mutation(tests, mutant)],
    build: {
      ssr: true,
      write: false,
      minify: false,
      rolldownOptions: { input: TESTS, output: { codeSplitting: false } },
    },
  });
  return output[0].code;
}

function mutation(tests, mutant) {
  const sources = {
    [TESTS]: () => entryOf(tests),
    ...(mutant && { [join(ROOT, mutant.file)]: () => mutated(mutant) }),
  };
  return {
    name: 'mutation',
    enforce: 'pre',
    resolveId: {
      filter: { id: new RegExp(`^(vitest|${TESTS})$`) },
      handler: (id, importer) => (id === TESTS ? id : importer === SHIM ? { id, external: true } : SHIM),
    },
    load: (id) => sources[id]?.(),
  };
}

const entryOf = (tests) => `
  export { collected, firstFailure } from ${JSON.stringify(SHIM)};
  export const files = [${tests.map((test) => `[${JSON.stringify(test)}, () => import(${JSON.stringify(join(ROOT, test))})]`).join()}];`;
