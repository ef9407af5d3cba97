import type { RequestListener } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { LoadError } from '../../loadtest/index.js';
import { calibratePreset, type CalibrationOptions, fittingPlan, type Plan, testPlan } from '../../loadtest/preset.js';
import { type Group, predict } from '../../sim/calibrate/fit.js';
import { errorsOf, fitPreset, isGood, PRESETS, verdictOf, type Preset, type PresetName } from '../../sim/index.js';
import { Dice } from '../support/dice.js';
import { serve } from '../support/serve.js';
import { engine } from '../sim/client.js';

const REQUEST_MS = 1.5;
const LIMITS = { promptTokensMax: 3000, concurrencyMax: 8 };

/** What a client would measure of a plan, with so much relative noise. */
function measure(truth: Preset, plan: Plan, noise: number, dice: Dice): Group[] {
  return plan.map((requests) => {
    const asked = requests.map(({ afterMs, promptTokens, outputTokens }, index) => ({
      sentMs: afterMs + 0.3 * index,
      promptTokens,
      outputTokens,
      firstTokenMs: 0,
      endMs: 0,
    }));
    const times = predict(truth, REQUEST_MS, asked);
    return asked.map((request, index) => {
      const { firstTokenMs = NaN, endMs = NaN } = times[index] ?? {};
      const first = firstTokenMs * (1 + noise * dice.normal());
      return { ...request, firstTokenMs: first, endMs: first + (endMs - firstTokenMs) * (1 + noise * dice.normal()) };
    });
  });
}

describe('a fit', () => {
  it.each<[PresetName, PresetName]>([
    ['tiny-cpu', 'tiny-cpu'],
    ['tiny-cpu', 'llama-3.1-8b-a100'],
    ['llama-3.1-8b-h100', 'llama-3.1-8b-a100'],
    ['llama-3.3-70b-tp4-h100', 'llama-3.1-8b-a100'],
    ['qwen3-coder-30b-a3b', 'qwen3-coder-30b-a3b'],
  ])('to timings of %s, begun with %s, predicts others', (name, begun) => {
    const dice = new Dice(7);
    const real = PRESETS[name];
    const base = { ...PRESETS[begun], batchTokens: real.batchTokens };
    const { preset, times, errors } = fitPreset(base, measure(real, fittingPlan(LIMITS), 0.01, dice));
    expect(errors.median).toBeLessThan(0.02);
    const others = measure(real, testPlan(LIMITS, 10, dice), 0, dice);
    const unseen = errorsOf(preset, times.request.ms, others);
    expect(unseen.count).toBe(3 * LIMITS.concurrencyMax);
    expect(unseen.median).toBeLessThan(0.03);
  });

  const truth = PRESETS['tiny-cpu'];
  const measured = (noise: number, limits = LIMITS) => measure(truth, fittingPlan(limits), noise, new Dice(7));

  it.each([truth, { ...truth, stepOverheadMs: 0, sequenceOverheadMs: 0 }])(
    'finds the constants themselves where they can be told apart, also without overheads to begin with',
    (base) => {
      const { preset, times } = fitPreset(base, measured(0));
      for (const key of ['flopsPerSecond', 'bytesPerSecond', 'stepOverheadMs', 'sequenceOverheadMs'] as const)
        expect(preset[key] / truth[key], key).toBeCloseTo(1, 1);
      expect(times.request.ms).toBeCloseTo(REQUEST_MS, 1);
      expect(Object.values(times).map(({ isTold }) => isTold)).toEqual(Array(7).fill(true));
    },
  );

  it('says what was not measured', () => {
    const { times } = fitPreset(truth, measured(0.01, { ...LIMITS, concurrencyMax: 1 }));
    expect([times.prefillToken.isTold, times.sequence.isTold]).toEqual([true, false]);
  });

  it('is not led by a few times that went wrong', () => {
    const groups = measured(0.01);
    const wrong = (group: Group) =>
      group.map((one) => ({ ...one, firstTokenMs: 4 * one.firstTokenMs, endMs: 4 * one.endMs }));
    const { preset, times } = fitPreset(
      truth,
      groups.map((group, index) => (index % 9 === 4 ? wrong(group) : group)),
    );
    expect(errorsOf(preset, times.request.ms, groups).median).toBeLessThan(0.05);
  });

  it('finds finite times where all tokens of an answer arrive together', () => {
    const together = measured(0.01).map((group) => group.map((one) => ({ ...one, firstTokenMs: one.endMs })));
    const { times } = fitPreset(truth, together);
    expect(Object.values(times).filter(({ ms }) => !(ms > 0 && ms < 1e6))).toEqual([]);
  });
});

describe('calibration', () => {
  const terms = (target: string, more: Partial<CalibrationOptions> = {}): CalibrationOptions => ({
    target,
    ownsTarget: true,
    base: PRESETS['tiny-cpu'],
    concurrency: 3,
    promptTokens: 512,
    signal: new AbortController().signal,
    ...more,
  });

  // How well it predicts depends on the machine; the agreement suite shows it on a quiet one.
  it('measures every request of a stand-in engine, each with a prompt of its own', async () => {
    const handle = await engine({ preset: 'tiny-cpu', speed: 100, models: ['mine'], kvTokens: 9600 });
    const progress: number[] = [];
    const onProgress = (done: number, all: number) => progress.push(done / all);
    const result = await calibratePreset(terms(`${handle.url}/v1`, { base: PRESETS['llama-3.1-8b-a100'], onProgress }));
    expect(result.preset).toMatchObject({ model: 'mine', kvTokens: 9600, maxModelLen: 8192 });
    expect(result.testErrors.count).toBe(3 * 3);
    expect(progress.at(-1)).toBe(1);
    // No prompt was known, but for what every text begins with.
    const { hitTokens, requests } = handle.stats();
    expect([hitTokens, requests]).toEqual([0, result.requests]);
  });

  it('ends at the signal, and leaves no request behind', async () => {
    const handle = await engine({ preset: 'tiny-cpu', speed: 1 });
    const stop = new AbortController();
    const reason = new Error('enough');
    const onProgress = () => stop.abort(reason);
    await expect(calibratePreset(terms(handle.url, { signal: stop.signal, onProgress }))).rejects.toBe(reason);
    await expect.poll(() => handle.stats().running).toBe(0);
  });

  const models = JSON.stringify({ data: [{ id: 'm' }] });

  it.each<[string, RequestListener]>([
    ['refuses', (request, response) => response.writeHead(request.url === '/v1/models' ? 200 : 401).end(models)],
    ['tells no usage', (_, response) => response.end(`${models}\n\ndata: {"choices":[{}]}\n\n`)],
    ['does not stream', (_, response) => response.end(models)],
    ['streams no JSON', (request, response) => response.end(request.method === 'GET' ? models : 'data: x\n\n')],
    ['breaks off', (request, response) => (request.method === 'GET' ? response.end(models) : response.destroy())],
    ['sends elsewhere', (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:9' }).end()],
  ])('of a server that %s is an error', async (_, answer) => {
    await expect(calibratePreset(terms(await serve(answer)))).rejects.toThrow(LoadError);
  });

  it('of a model that is not served is an error', async () => {
    const handle = await engine();
    await expect(calibratePreset(terms(handle.url, { model: 'none' }))).rejects.toThrow(LoadError);
  });

  it('asks again without what a server does not know, and goes on without its metrics', async () => {
    const bodies: string[] = [];
    const url = await serve((request, response) => {
      if (request.url === '/metrics') return void response.destroy();
      if (request.method === 'GET') return void response.end(models);
      let body = '';
      request.on('data', (bytes: Buffer) => (body += bytes.toString()));
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(body.includes('ignore_eos') ? 400 : 418).end();
      });
    });
    await expect(calibratePreset(terms(url))).rejects.toThrow(LoadError);
    expect(bodies.map((body) => body.includes('ignore_eos'))).toEqual([true, false]);
  });
});

it('goes on without metrics that hang, and ends at the signal while they do', async () => {
  const limits: number[] = [];
  const real = AbortSignal.timeout.bind(AbortSignal);
  let sooner = true;
  // The only limit of the calibration that is that short.
  const spy = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((ms) => (limits.push(ms), real(sooner && ms === 10_000 ? 1 : ms)));
  const stop = new AbortController();
  const asked: string[] = [];
  const url = await serve((request, response) => {
    asked.push(request.url ?? '');
    if (request.url !== '/metrics')
      response.writeHead(request.method === 'GET' ? 200 : 418).end(JSON.stringify({ data: [{ id: 'm' }] }));
    else if (!sooner) stop.abort(new Error('enough'));
  });
  const options = { target: url, ownsTarget: true, base: PRESETS['tiny-cpu'], concurrency: 1, promptTokens: 64 };
  await expect(calibratePreset({ ...options, signal: stop.signal })).rejects.toThrow(LoadError);
  expect(asked).toContain('/v1/completions');
  sooner = false;
  await expect(calibratePreset({ ...options, signal: stop.signal })).rejects.toThrow('enough');
  spy.mockRestore();
});

it('is trusted by its error on unseen requests, not by its worst one', () => {
  const good = { median: 0.1, worst: 0.9, count: 24 };
  expect([isGood(good), verdictOf(good)]).toEqual([true, expect.stringMatching(/^Good enough .* 10\.0 % .* 90\.0 %/)]);
  const bad = { ...good, median: 0.11 };
  expect([isGood(bad), verdictOf(bad)]).toEqual([false, expect.stringMatching(/^Not good enough [^]*idle server/)]);
  // No unseen request has ended.
  expect(isGood({ median: NaN, worst: NaN, count: 0 })).toBe(false);
});
