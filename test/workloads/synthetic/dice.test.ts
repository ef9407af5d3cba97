import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PRESETS } from '../../../sim/index.js';
import { stepMs } from '../../../sim/engine/roofline.js';
import { Dice } from '../../../workloads/dice.js';

/** Of the bits of so many numbers. */
const hashOf = (next: () => number, count = 20_000): string =>
  createHash('sha256')
    .update(new Uint8Array(Float64Array.from({ length: count }, next).buffer))
    .digest('hex')
    .slice(0, 16);

describe('chance and step times', () => {
  // `x ** y` is not: these were found alike on Node 20 and 24.
  it('are the same to the last bit on every version of Node', () => {
    const dice = new Dice(5);
    const preset = PRESETS['qwen3-coder-30b-a3b'];
    let tokens = 0;
    const moe = () => stepMs(preset, { sequences: 1, tokens: (tokens += 1), attended: 0, context: 0 });
    expect({
      normal: hashOf(() => dice.normal()),
      logNormal: hashOf(() => dice.logNormal(90, 1000)),
      gamma: hashOf(() => dice.gamma(2.5)),
      peaked: hashOf(() => dice.gammaOf(100, 3)),
      moe: hashOf(moe, 2000),
    }).toMatchInlineSnapshot(`
      {
        "gamma": "f8c6961cf0876c08",
        "logNormal": "e9b09a2148d56672",
        "moe": "bd230461cd7c739b",
        "normal": "60ef6b00fb6ed3a7",
        "peaked": "2fdad0d2b57c07cf",
      }
    `);
  });
});
