import { describe, expect, it } from 'vitest';
import type { Tokens } from '../../../src/index.js';
import { PrefillMeter } from '../../../src/engines/prefill-meter.js';
import { finished } from '../../support/core-events.js';

/** A prompt of 2,000 tokens whose first token came after `tookMs`. */
function sample(
  meter: PrefillMeter,
  tookMs: number,
  facts: { prompt?: number; cached?: number; queueMs?: number } = {},
  hostTokens = 0,
) {
  const event = finished('c', { prompt: 2_000, cached: 0, output: 1, ...facts });
  meter.finished(1_000, 1_000 + tookMs, event, hostTokens);
}

it("is what a first token took less the engine's own queue, for each uncached token", () => {
  const meter = new PrefillMeter();
  expect(meter.msPerToken).toBeUndefined();
  sample(meter, 900, { prompt: 4_000, cached: 2_000, queueMs: 500 });
  expect(meter.msPerToken).toBe(0.2);
});

it('follows low samples faster than high ones', () => {
  const meter = new PrefillMeter();
  sample(meter, 2_000);
  sample(meter, 3_600);
  expect(meter.msPerToken).toBeCloseTo(1 + 0.8 / 64, 12);
  const [before] = [meter.msPerToken!];
  sample(meter, 400);
  expect(meter.msPerToken).toBeCloseTo(before + (0.2 - before) / 16, 12);
});

it('takes nothing from prompts that are short or cached', () => {
  const meter = new PrefillMeter();
  sample(meter, 900, { prompt: 1_000 });
  sample(meter, 900, { prompt: 9_000, cached: 8_900 });
  expect(meter.msPerToken).toBeUndefined();
});

describe('a prompt that came back from host memory', () => {
  it('tells the time of a token from there, less that of the computed rest', () => {
    const meter = new PrefillMeter();
    sample(meter, 900, { prompt: 9_000, cached: 8_500 }, 8_500);
    expect(meter.hostMsPerToken).toBeCloseTo(900 / 8_500, 12);
    const other = new PrefillMeter();
    sample(other, 2_000);
    sample(other, 950, { prompt: 9_000, cached: 8_500 }, 4_500);
    expect(other.hostMsPerToken).toBeCloseTo(0.1, 12);
    expect(other.msPerToken).toBe(1);
  });

  it('is believed where the engine tells its length, and no further than it was cached', () => {
    const meter = new PrefillMeter();
    const event = finished('c', { prompt: 9_000, cached: 8_500, output: 1 });
    meter.finished(0, 100, { ...event, usage: { ...event.usage!, hostCachedTokens: 2_000 as Tokens } }, 8_500);
    expect(meter.hostMsPerToken).toBe(0.05);
    sample(meter, 100, { prompt: 9_000, cached: 8_500 }, 500);
    sample(meter, 1, { prompt: 1_500, cached: 1_000 }, 90_000);
    expect(meter.hostMsPerToken).toBe(0.05);
  });

  it('leaves out its load from the time of a computed token', () => {
    const meter = new PrefillMeter();
    sample(meter, 200, { prompt: 2_100, cached: 2_000 }, 2_000);
    sample(meter, 1_200, { prompt: 4_000, cached: 2_000 }, 2_000);
    expect(meter.msPerToken).toBeCloseTo(0.5, 12);
  });
});
