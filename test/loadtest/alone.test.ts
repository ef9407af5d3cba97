import { describe, expect, it } from 'vitest';
import { APIS } from '../../loadtest/apis/index.js';
import { newAnswer } from '../../loadtest/apis/api.js';
import { baselineOf, measureAlone } from '../../loadtest/calibrate.js';
import { GatewayWords } from '../../loadtest/gateway-words.js';
import { Words } from '../../loadtest/words.js';
import { warningsOf } from '../../loadtest/warnings.js';

const TRUE = { overheadMs: 10_000, promptTokenMs: 20, outputTokenMs: 1000 };

/** The speed measured by calls that take so many times as long as they would undisturbed, and the number of calls. */
async function measured(slowdownOf: (call: number) => number) {
  let calls = 0;
  const words = new Words(['an', 'ox'], 1);
  const call = ({ items, outputTokens }: { readonly items: readonly string[]; readonly outputTokens: number }) => {
    const promptTokens = items.join(' ').split(' ').length;
    const ms = TRUE.overheadMs + TRUE.promptTokenMs * promptTokens + TRUE.outputTokenMs * outputTokens;
    const endedAt = performance.now() + ms * slowdownOf((calls += 1));
    const answer = { ...newAnswer(), promptTokens, outputTokens };
    return Promise.resolve({
      outcome: 'completed' as const,
      detail: '',
      status: 200,
      gateway: new GatewayWords(),
      answer,
      firstTokenAt: endedAt,
      endedAt,
    });
  };
  const prober = { api: APIS.chat, model: 'm', call, post: () => Promise.resolve(undefined) };
  const template = { opening: 0, system: 0, turn: 0 };
  const alone = await measureAlone(prober, { words, template, tokenizer: 'usage', isExact: true });
  return { alone: alone!, calls };
}

const isNear = (alone: object) =>
  Object.entries(TRUE).forEach(([name, ms]) => expect(Reflect.get(alone, name) / ms).toBeCloseTo(1, 1));

describe('the speed of a call alone', () => {
  it('takes two calls of each kind where nothing disturbs them', async () => {
    const { alone, calls } = await measured(() => 1);
    isNear(alone);
    expect(calls).toBe(6);
  });

  it('is that of the undisturbed calls, however many are disturbed', async () => {
    const { alone, calls } = await measured((call) => (call <= 15 || call % 4 === 0 ? 3 + call : 1));
    isNear(alone);
    expect(calls).toBeGreaterThan(15);
  });

  it('is called rough where no two calls agree', async () => {
    const { alone, calls } = await measured((call) => 4 - call / 12);
    expect(calls).toBe(36);
    expect(alone.spread).toBeGreaterThan(0.05);
    const generator = {
      cpu_share: 0,
      calls_in_flight_max: 0,
      late_send_ms: { mean: 0, p99: 0, max: 0 },
      loop_lag_ms: { mean: 0, p99: 0, max: 0 },
    };
    const options = { connections: 9, ignoreEos: false, timeScale: 1 };
    const facts = {
      url: 'http://a',
      model: 'm',
      server: undefined,
      policy: undefined,
      maxModelLen: undefined,
      tokenizer: 'usage' as const,
    };
    const told = (spread: number) => {
      const own = {
        isExact: true,
        ignoresEos: true,
        alone: { ...alone, spread },
        waitedMs: 0,
        speed: 1,
        promptTokensWanted: 1,
        promptTokensCounted: 1,
        goneMs: undefined,
        disturbances: [],
      };
      const target = { ...facts, ...own };
      return warningsOf({ options, targets: [target, target], generator, programsTooLong: 0, isTooMany: false });
    };
    expect(told(0.05)).toEqual([]);
    expect(told(0.2)).toEqual([
      'Slowdowns are rough: even the fastest calls before the run differed by 20.0 %. Repeat when nothing else runs.',
    ]);
  });

  it('is that of the target that answers a typical call the soonest', () => {
    const near = { overheadMs: 5, promptTokenMs: 0.2, outputTokenMs: 10, spread: 0 };
    const far = { overheadMs: 100, promptTokenMs: 0.1, outputTokenMs: 11, spread: 0 };
    const found = [
      [far, near],
      [near, near],
      [undefined, far],
      [undefined, undefined],
    ].map(baselineOf);
    expect(found).toEqual([near, near, far, undefined]);
  });
});
