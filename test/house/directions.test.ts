import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, listImports, parseSource } from '../support/tree.js';

/** Rooms, and the rooms that each may import besides itself. Tests and benches may import anything. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  src: [],
  loadbalancer: ['src'],
  sidecar: ['src', 'loadbalancer'],
  workloads: ['src'],
  sim: ['src', 'loadbalancer', 'workloads'],
  lab: ['src', 'loadbalancer', 'workloads', 'sim'],
  loadtest: ['src', 'workloads', 'sim', 'lab'],
  cli: ['src', 'loadbalancer', 'sidecar', 'workloads', 'sim', 'lab', 'loadtest'],
  processes: ['src', 'sidecar', 'sim'],
  demo: ['src', 'sidecar', 'workloads', 'sim', 'processes'],
};
/** Rooms without I/O: nothing from outside but data structures that take their clock as an argument. */
const PURE: Readonly<Record<string, readonly string[]>> = { src: ['lru-cache'], loadbalancer: ['lru-cache'] };

/** Imports of a file that its room may not have. */
function forbidden(file: string, imports: readonly string[]): string[] {
  const room = file.split('/')[0]!;
  return imports.filter((name) => {
    if (!name.startsWith('.')) return PURE[room]?.includes(name) === false;
    const target = posix.join(posix.dirname(file), name).split('/')[0]!;
    return target !== room && ALLOWED[room]?.includes(target) === false;
  });
}

describe('imports', () => {
  const sources = listFiles().filter((file) => file.endsWith('.ts') && (file.split('/')[0] ?? '') in ALLOWED);

  it('are found in every room that has sources', () => {
    expect(sources.length).toBeGreaterThan(10);
    expect(sources.flatMap((file) => listImports(parseSource(file))).length).toBeGreaterThan(sources.length);
  });

  it('go only where DESIGN allows', () => {
    const found = sources.flatMap((file) =>
      forbidden(file, listImports(parseSource(file))).map((name) => `${file} -> ${name}`),
    );
    expect(found).toEqual([]);
  });

  it.each([
    ['src/a.ts', "import { b } from '../loadbalancer/b.js';"],
    ['src/a.ts', "import type { Server } from 'node:http';"],
    ['src/a.ts', "import fs from 'fs';"],
    ['src/policies/a.ts', "export * from '../../sidecar/b.js';"],
    ['loadbalancer/a.ts', "const sim = await import('../sim/index.js');"],
    ['loadbalancer/a.ts', "import { request } from 'undici';"],
    ['sidecar/a.ts', "import type { A } from '../sim/index.js';"],
    ['sim/server/a.ts', "import { a } from '../../sidecar/index.js';"],
    ['workloads/a.ts', "import { runWorld } from '../sim/virtual/world.js';"],
    ['sim/a.ts', "import { report } from '../lab/report/report.js';"],
    ['sim/a.ts', "import { main } from '../cli/program.js';"],
    ['sidecar/a.ts', "import { a } from '../test/support/tree.js';"],
  ])('in %s may not be %s', (file, text) => {
    expect(forbidden(file, listImports(parseSource(file, text)))).toHaveLength(1);
  });
});
