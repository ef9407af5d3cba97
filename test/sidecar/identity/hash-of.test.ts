import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashOf } from '../../../sidecar/identity/growing.js';

it('hashes a part of a text like the part alone, however long the text', () => {
  const filler = 'x'.repeat(131_072);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(3), fc.nat(2), (part, odd, fillers) => {
      const before = 'y'.repeat(odd) + filler.repeat(fillers);
      expect(hashOf(before + part + filler, before.length, before.length + part.length)).toBe(hashOf(part));
    }),
    { seed: 1 },
  );
  const [long, longer] = [filler + filler + 'a', filler + filler + 'b'];
  expect(hashOf(`z${long}`, 1)).toBe(hashOf(long));
  expect(hashOf(long)).not.toBe(hashOf(longer));
});
