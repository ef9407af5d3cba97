import { expect, it } from 'vitest';
import { PrefillMeter } from '../../../src/engines/prefill-meter.js';
import { finished } from '../../support/core-events.js';

/** A prompt of 2,000 tokens whose first token came after `tookMs`. */
function sample(
  meter: PrefillMeter,
  tookMs: number,
  facts: { prompt?: number; cached?: number; queueMs?: number } = {},
) {
  const event = finished('c', { prompt: 2_000, cached: 0, output: 1, ...facts });
  meter.finished(1_000, 1_000 + tookMs, event);
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
