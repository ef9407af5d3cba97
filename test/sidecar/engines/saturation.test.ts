import { describe, expect, it } from 'vitest';
import { Saturation } from '../../../sidecar/engines/saturation.js';
import { programId } from '../../../src/index.js';

const A = programId('a');
const B = programId('b');

describe('an engine without room', () => {
  it('rests for half a second or for as long as it asks, but never longer than 8 s', () => {
    const rests = [undefined, 0.001, 700, 300_000].map((askedMs) => new Saturation().refused(A, false, askedMs, 0));
    expect(rests).toEqual([500, 50, 700, 8000]);
  });

  it('does not rest for a 429 that only one program hears', () => {
    const saturation = new Saturation();
    saturation.served(B, 0);
    expect(saturation.refused(A, true, undefined, 10)).toBeUndefined();
    expect(saturation.refused(A, false, undefined, 10)).toBe(500);
    expect(saturation.refused(B, true, undefined, 600)).toBe(500);
  });
});
