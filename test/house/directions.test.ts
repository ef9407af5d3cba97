import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, listImports, readText } from '../support/tree.js';

/** Rooms, and the rooms that each may import besides itself. Tests and benches may import anything. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  src: [],
  loadbalancer: ['src'],
  cluster: ['src'],
  plans: [],
  sidecar: ['text', 'src', 'loadbalancer', 'cluster', 'plans'],
  workloads: ['src'],
  sim: ['src', 'loadbalancer', 'cluster', 'workloads'],
  text: [],
  lab: ['text', 'src', 'loadbalancer', 'workloads', 'sim'],
  loadtest: ['text', 'src', 'workloads', 'sim', 'lab'],
  cli: ['text', 'src', 'loadbalancer', 'cluster', 'plans', 'sidecar', 'workloads', 'sim', 'lab', 'loadtest'],
  processes: ['src', 'sidecar', 'sim'],
  // Of the sidecar, the types of the admin API only, see below.
  ui: ['text', 'sidecar'],
};
/** Rooms without I/O: nothing from outside but data structures that take their clock as an argument. */
const PURE: Readonly<Record<string, readonly string[]>> = {
  src: [],
  loadbalancer: [],
  plans: [],
};

/**
 * The files that import each other in circles, types included. These records point at each other: programs, calls,
 * engines, pools, and the contexts in an engine's cache.
 */
const RECORDS = [
  'src/engines/engine.ts',
  'src/kv/cache-contents.ts',
  'src/kv/context.ts',
  'src/kv/contexts-in-use.ts',
  'src/kv/displacements.ts',
  'src/kv/idle-claims.ts',
  'src/kv/needs.ts',
  'src/kv/working-set.ts',
  'src/programs/call.ts',
  'src/programs/process-table.ts',
  'src/queues/model-pool.ts',
];

/** Folders that the rest of the project enters by an `index.ts` alone. */
const DOORS = 'src loadbalancer cluster plans sidecar/config workloads sim text lab loadtest'.split(' ');

/** The file that an import names. */
const pathOf = (from: string, name: string) => posix.join(posix.dirname(from), name.replace(/\.jsx?$/, '.ts'));

/** Imports that enter a folder elsewhere than by its door. */
function pastDoors(file: string, imports: readonly string[]): string[] {
  return imports.filter((name) => {
    const path = pathOf(file, name);
    const folder = DOORS.find((door) => path.startsWith(`${door}/`));
    return folder !== undefined && !file.startsWith(`${folder}/`) && !path.endsWith('/index.ts');
  });
}

/** Files that import themselves by way of others. */
function inCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const isInCircle = (file: string): boolean => {
    const reached = new Set(imports.get(file));
    for (const each of reached) for (const next of imports.get(each) ?? []) reached.add(next);
    return reached.has(file);
  };
  return [...imports.keys()].filter(isInCircle).toSorted();
}

/** Imports of a file that its room may not have. */
function forbidden(file: string, imports: readonly string[]): string[] {
  const room = file.split('/')[0]!;
  return imports.filter((name) => {
    if (!name.startsWith('.')) return PURE[room]?.includes(name) === false;
    const target = posix.join(posix.dirname(file), name).split('/')[0]!;
    return target !== room && ALLOWED[room]?.includes(target) === false;
  });
}

/** The files that are loaded with one: neither types nor what is loaded on demand. */
function loadedBy(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  for (const [, name = ''] of readText(file).matchAll(/^(?:import|export|}) (?!type)(?:[^;]*?from )?'(\.[^']+)';/gm))
    loadedBy(posix.join(posix.dirname(file), name.replace(/\.js$/, '.ts')), loaded);
  return loaded;
}

describe('imports', () => {
  const sources = listFiles().filter((file) => /\.tsx?$/.test(file) && (file.split('/')[0] ?? '') in ALLOWED);
  const imports = new Map(sources.map((file) => [file, listImports(readText(file))]));

  it('go only where DESIGN allows', () => {
    const found = [...imports].flatMap(([file, names]) => forbidden(file, names).map((name) => `${file} -> ${name}`));
    expect(found).toEqual([]);
  });

  it('make no circle, except that records of the core point at each other', () => {
    // The page's files are `.tsx`, and imported as `.js`.
    const nameOf = (file: string) => file.replace(/\.tsx$/, '.ts');
    const paths = [...imports].map(([file, names]) => [nameOf(file), names.map((name) => pathOf(file, name))] as const);
    expect(inCircles(new Map(paths))).toEqual(RECORDS);
    expect(inCircles(new Map(Object.entries({ a: ['b'], b: ['c'], c: ['b', 'd'], d: [] })))).toEqual(['b', 'c']);
  });

  it('enter other rooms by their doors', () => {
    const found = [...imports].flatMap(([file, names]) => pastDoors(file, names).map((name) => `${file} -> ${name}`));
    expect(found).toEqual([]);
    const configs = ['../sidecar/config/load.js', '../sidecar/config/index.js', './b.js'];
    expect(pastDoors('cli/a.ts', configs)).toHaveLength(1);
    expect(pastDoors('sidecar/config/a.ts', ['./load.js', '../../src/scheduler.js'])).toHaveLength(1);
  });

  it('of the page are of nothing in the sidecar but the types of the admin API', () => {
    const lines = sources.filter((file) => file.startsWith('ui/')).flatMap((file) => readText(file).split('\n'));
    const ofSidecar = lines.filter((line) => line.includes("from '../sidecar/"));
    expect(ofSidecar.length).toBeGreaterThan(3);
    expect(ofSidecar.filter((line) => !/^(import type|}) .*'..\/sidecar\/admin\/answers.js';$/.test(line))).toEqual([]);
  });

  it('of the gateway and of the commands that look at one load no simulator', () => {
    for (const command of ['program', 'serve', 'config', 'top', 'why', 'doctor'])
      expect([...loadedBy(`cli/${command}.ts`)].filter((file) => /^(sim|lab|loadtest|workloads)\//.test(file))).toEqual(
        [],
      );
    expect([...loadedBy('cli/sim.ts')].filter((file) => file === 'sim/index.ts')).toHaveLength(1);
  });

  it.each([
    ['src/a.ts', "import { b } from '../loadbalancer/b.js';"],
    ['src/a.ts', "import type { Server } from 'node:http';"],
    ['loadbalancer/a.ts', "const sim = await import('../sim/index.js');"],
    ['loadbalancer/a.ts', "import { request } from 'undici';"],
    ['sidecar/a.ts', "import { API } from '../ui/state.js';"],
    ['sim/a.ts', "import { report } from '../lab/report/report.js';"],
    ['sidecar/a.ts', "import { a } from '../test/support/tree.js';"],
  ])('in %s may not be %s', (file, text) => {
    expect(forbidden(file, listImports(text))).toHaveLength(1);
  });
});
