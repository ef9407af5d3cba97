import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringEnd } from '../../../sidecar/http/splice.js';
import { skeletonOf } from '../../../sidecar/bodies/skeleton.js';

/** Long enough for the native search, with quotes and backslashes near its start. */
const content = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '\\', '\\\\', '\\"', '"\\', 'é'),
      fc.nat(300).map((length) => 'x'.repeat(length)),
      fc.nat(300).map((length) => '\\'.repeat(length)),
      fc.nat(300).map((length) => '"'.repeat(length)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

it('finds the end of any string, and no end where there is none', () => {
  fc.assert(
    fc.property(content, content, (inside, behind) => {
      const text = JSON.stringify(inside);
      const raw = Buffer.from(`[${text}${behind}`);
      expect(stringEnd(raw, 1)).toBe(1 + Buffer.byteLength(text));
      const open = Buffer.from(text.slice(0, -1));
      expect(stringEnd(open, 0)).toBeGreaterThan(open.length);
    }),
    { numRuns: 2000, seed: 3 },
  );
});

it('counts what a JSON text holds, whatever its strings say', () => {
  const keys = fc.stringMatching(/^[a-z"\\{[:]{0,3}$/);
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 5 }, content, fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 4 }),
    object: fc.dictionary(keys, tie('any'), { maxKeys: 4 }),
  })).any;
  const depthOf = (x: unknown): number =>
    typeof x === 'object' && x !== null ? 1 + Math.max(0, ...Object.values(x).map(depthOf)) : 0;
  const nodesOf = (x: unknown): number => {
    if (typeof x !== 'object' || x === null) return 0;
    const keyCount = Array.isArray(x) ? 0 : Object.keys(x).length;
    return 1 + keyCount + Object.values(x).reduce((sum: number, item) => sum + nodesOf(item), 0);
  };
  fc.assert(
    fc.property(fc.dictionary(keys, value, { maxKeys: 5 }), (body) => {
      const shape = { depth: depthOf(body), nodes: nodesOf(body), fields: Object.keys(body).length };
      expect(skeletonOf(Buffer.from(JSON.stringify(body, null, 1)))).toMatchObject(shape);
    }),
    { numRuns: 1000, seed: 4 },
  );
});
