import { describe, expect, it } from 'vitest';
import { BACKOFF, INTERVAL, lostAfter, STUCK, up, VLLM } from './fleet-harness.js';

/** Metrics of an engine with these requests and tokens. */
const metrics = (running: number, waiting: number, tokens: number): string =>
  `${VLLM['/metrics'] as string}vllm:num_requests_running ${running}\nvllm:generation_tokens_total ${tokens}\n`.replace(
    /num_requests_waiting \d+/,
    `num_requests_waiting ${waiting}`,
  );

/** An engine with these metrics since its last probe. */
async function upWith(running: number, waiting: number, tokens: number) {
  const stage = await up();
  stage.fake.routes.set('/metrics', metrics(running, waiting, tokens));
  await stage.harness.probe();
  return stage;
}

/** Intervals after which rest is a stall. */
const PROBES = STUCK / INTERVAL;

describe('an engine that has requests, runs none and gives no token', () => {
  it('is ejected as stuck after `stuckMs`, and not before', async () => {
    const { harness } = await upWith(0, 3, 70);
    for (let probe = 1; probe <= PROBES; probe += 1) {
      expect(harness.engine('e').state).toBe('up');
      await harness.probe();
    }
    // Its first report of rest only shows how many tokens there were.
    await harness.probe();
    expect(harness.take().filter(({ type }) => type === 'engineLost')).toEqual([lostAfter(STUCK)]);
    expect(harness.engine('e')).toMatchObject({
      state: 'down',
      ejections: 1,
      trouble: { reason: 'it is stuck: it has run none of its 3 requests for 5 s' },
    });
  });

  it('stays down for as long as it rests, and comes back when it runs something or nothing waits', async () => {
    for (const better of [metrics(1, 2, 70), metrics(0, 0, 70), metrics(0, 3, 71)]) {
      const { fake, harness } = await upWith(0, 3, 70);
      while (harness.engine('e').state === 'up') await harness.probe();
      expect(harness.waits).toEqual([BACKOFF]);
      for (let probe = 0; probe < 4; probe += 1) await harness.probe();
      expect(harness.engine('e')).toMatchObject({
        state: 'down',
        trouble: { reason: expect.stringMatching(/^it is stuck/) as string },
      });
      fake.routes.set('/metrics', better);
      await harness.probe();
      expect(harness.engine('e')).toMatchObject({ state: 'probation', trouble: undefined });
      await harness.probe();
      expect(harness.engine('e').state).toBe('up');
    }
  });

  it.each([
    ['runs something', () => metrics(1, 3, 70)],
    ['has nothing to run', () => metrics(0, 0, 70)],
    ['gives tokens between its reports', (probe: number) => metrics(0, 3, 70 + probe)],
    ['rests now and then', (probe: number) => metrics(Number(probe % 3 === 0), 3, 70)],
    ['does not say what it runs', () => VLLM['/metrics'] as string],
  ])('is none if it %s', async (_, report) => {
    const { fake, harness } = await up();
    for (let probe = 0; probe < 3 * PROBES; probe += 1) {
      fake.routes.set('/metrics', report(probe));
      await harness.probe();
    }
    expect(harness.engine('e')).toMatchObject({ state: 'up', trouble: undefined });
  });
});
