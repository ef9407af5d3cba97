import { describe, expect, it } from 'vitest';
import { Saturation } from '../../../sidecar/engines/saturation.js';
import { programId } from '../../../src/index.js';

const A = programId('a');
const B = programId('b');

describe('an engine without room', () => {
  it('rests twice as long each time, and never longer than 8 s, whatever it asks for', () => {
    const saturation = new Saturation();
    let nowMs = 0;
    const rests = Array.from({ length: 6 }, () => {
      const restMs = saturation.refused(A, false, undefined, nowMs)!;
      nowMs += restMs;
      return restMs;
    });
    expect(rests).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
    expect(new Saturation().refused(A, false, 300_000, 0)).toBe(8000);
  });

  it('begins anew once it has served a call', () => {
    const saturation = new Saturation();
    saturation.refused(A, false, undefined, 0);
    saturation.served(A, 600);
    expect(saturation.refused(A, false, undefined, 600)).toBe(500);
  });

  it('does not rest for a 429 that only one program hears', () => {
    const saturation = new Saturation();
    saturation.served(B, 0);
    expect(saturation.refused(A, true, undefined, 10)).toBeUndefined();
    expect(saturation.refused(A, false, undefined, 10)).toBe(500);
    expect(saturation.refused(B, true, undefined, 600)).toBe(1000);
  });
});
