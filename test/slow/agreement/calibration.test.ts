import { expect, it } from 'vitest';
import { calibratePreset } from '../../../loadtest/index.js';
import { PRESETS } from '../../../sim/index.js';
import { engine } from '../../sim/client.js';

/** The stand-in's clock against the machine's. */
const SPEED = 8;

it('calibration on a stand-in engine finds its times, and predicts requests that it has not seen', async () => {
  const truth = PRESETS['tiny-cpu'];
  const { url } = await engine({ preset: 'tiny-cpu', speed: SPEED, models: ['mine'], kvTokens: 9600 });
  const { times, testErrors } = await calibratePreset({
    target: `${url}/v1`,
    ownsTarget: true,
    base: PRESETS['llama-3.1-8b-a100'],
    concurrency: 3,
    promptTokens: 512,
    signal: new AbortController().signal,
  });
  expect(testErrors.median).toBeLessThan(0.35);
  const stepMs = truth.stepOverheadMs + (1000 * truth.weightBytes) / truth.bytesPerSecond;
  expect((times.step.ms + times.weights.ms) / (stepMs / SPEED)).toBeCloseTo(1, 0);
}, 60_000);
