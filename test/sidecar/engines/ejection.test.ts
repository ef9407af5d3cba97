import { describe, expect } from 'vitest';
import { engineId, programId } from '../../../src/index.js';
import { hang, modelList, reset } from '../../support/fake-engine.js';
import {
  BACKOFF,
  BACKOFF_MAX,
  FAILURES_MAX,
  INTERVAL,
  it,
  JOINED,
  lostAfter,
  probed,
  REPORTED,
  TIMEOUT,
  types,
  up,
} from './fleet-harness.js';
import { until } from './manual-timers.js';

describe('ejection', () => {
  it('follows on calls that fail in a row', ({ harness }) => {
    harness.call('e', 'unreached', FAILURES_MAX - 1);
    harness.call('e', 'succeeded');
    harness.call('e', 'unreached', FAILURES_MAX - 1);
    expect(harness.engine('e').state).toBe('up');
    harness.call('e', 'unreached');
    expect(harness.engine('e').state).toBe('down');
    expect(harness.take()).toEqual([lostAfter(0)]);
    expect(harness.waits).toEqual([BACKOFF]);
    expect(harness.engine('e').trouble?.reason).toBe('it cannot be reached');
    expect(harness.engine('e').probeInMs).toBe(BACKOFF);
    harness.call('e', 'unreached', FAILURES_MAX);
    harness.call('e', 'succeeded');
    expect(harness.engine('e').state).toBe('down');
    expect(harness.take()).toEqual([]);
  });

  it('is not prevented by healthy probes between failed calls', async ({ harness }) => {
    for (let i = 0; i < FAILURES_MAX; i += 1) {
      harness.call('e', 'unreached');
      if (i < FAILURES_MAX - 1) await harness.probe();
    }
    expect(harness.engine('e').state).toBe('down');
  });

  it.each([
    ['resets', reset],
    ['503', 503],
    ['500', 500],
    ['404', 404],
  ])('follows on probes that fail in a row: %s', async (_, route) => {
    const { fake, harness } = await up();
    fake.all = route;
    for (let i = 1; i < FAILURES_MAX; i += 1) await harness.probe();
    expect(harness.engine('e').state).toBe('up');
    expect(harness.take()).toEqual([]);
    await harness.probe();
    expect(harness.engine('e').state).toBe('down');
    expect(harness.take()).toEqual([lostAfter(FAILURES_MAX * INTERVAL)]);
  });

  it('does not follow on answers that fail one program, nor those of several while probes are good', async ({
    harness,
  }) => {
    harness.answers('e', 'misanswered', 'a', 'a', 'a', 'a');
    expect(harness.waits).toEqual([INTERVAL]);
    harness.answers('e', 'misanswered', 'b', 'c');
    // The probe starts immediately.
    expect(harness.waits).toEqual([]);
    await harness.idle();
    expect(types(harness.take())).toEqual(['engineReported']);
  });

  it('follows on answers that fail several programs and one bad probe', async ({ fake, harness }) => {
    fake.all = 503;
    harness.answers('e', 'misanswered', 'a', 'b', 'c');
    await harness.idle();
    expect(types(harness.take())).toEqual(['engineLost']);
  });

  it('follows on answers that fail several programs which others answer, unless one succeeds between', async ({
    harness,
  }) => {
    harness.answers('e', 'outdone', 'a', 'b');
    harness.call('e', 'succeeded');
    harness.answers('e', 'outdone', 'c', 'c');
    // It has served a call since it failed these.
    harness.answers('e', 'late', 'd', 'f', 'g');
    await harness.probe();
    expect(harness.engine('e').state).toBe('up');
    harness.take();
    const before = harness.engine('e').evidence.acquittals;
    harness.answers('e', 'outdone', 'a', 'b');
    await harness.idle();
    expect(types(harness.take())).toEqual(['engineLost']);
    // Calls of others must not tell their words.
    expect(harness.engine('e').trouble?.reason).toBe('answered with status 500, where others answered');
    // Calls that it failed before it went down are answered elsewhere once it is back.
    await harness.probe();
    harness.take();
    for (const program of ['a', 'b', 'c'])
      harness.fleet.get(engineId('e'))?.outdone(programId(program), before, 'lost');
    await harness.idle();
    expect(types(harness.take())).not.toContain('engineLost');
  });

  it('knows since when it fails calls: for longer than a minute it failed none before', ({ harness }) => {
    const engine = harness.fleet.get(engineId('e'));
    const failedAt = (ms: number) => {
      harness.timers.now = ms;
      harness.answers('e', 'misanswered', 'a');
      return engine?.evidence.failingSinceMs;
    };
    expect([1000, 61_000, 121_000, 181_001].map(failedAt)).toEqual([1000, 1000, 1000, 181_001]);
  });

  it('follows on probes that hang', async ({ fake, harness }) => {
    fake.all = hang;
    for (let i = 0; i < FAILURES_MAX; i += 1) {
      const before = fake.requests.length;
      harness.timers.advance(INTERVAL);
      await until(() => fake.requests.length > before);
      harness.timers.advance(TIMEOUT);
      await harness.idle();
    }
    expect(harness.take()).toEqual([lostAfter(FAILURES_MAX * (INTERVAL + TIMEOUT))]);
    // Also for people, it is down since it was last heard.
    expect(harness.engine('e').trouble?.sinceMs).toBe(harness.timers.now - FAILURES_MAX * (INTERVAL + TIMEOUT));
  });

  it('is announced by silence: probes that fail while no call is answered, and not by slow probes or calls', async ({
    fake,
    harness,
  }) => {
    const silentMs = () => harness.engine('e').silentMs;
    fake.routes.set('/metrics', hang);
    const before = fake.requests.length;
    harness.timers.advance(INTERVAL);
    await until(() => fake.requests.slice(before).includes('GET /metrics'));
    harness.timers.advance(TIMEOUT);
    await harness.idle();
    expect(silentMs()).toBe(0);
    fake.all = reset;
    await harness.probe();
    await harness.probe();
    expect(silentMs()).toBe(2 * INTERVAL);
    harness.call('e', 'succeeded');
    expect(silentMs()).toBe(0);
  });

  it('forgives failed probes that are not in a row', async ({ fake, harness }) => {
    for (let i = 0; i < 2 * FAILURES_MAX; i += 1) {
      fake.all = i % 2 === 0 ? 503 : undefined;
      await harness.probe();
    }
    expect(harness.engine('e').state).toBe('up');
  });

  it('makes the result of a probe under way void', async ({ fake, harness }) => {
    fake.routes.set('/metrics', hang);
    harness.timers.advance(INTERVAL);
    const before = fake.requests.length;
    await until(() => fake.requests.slice(before).includes('GET /metrics'));
    harness.call('e', 'unreached', FAILURES_MAX);
    harness.timers.advance(TIMEOUT);
    await harness.idle();
    expect(harness.engine('e').state).toBe('down');
    expect(harness.take()).toEqual([lostAfter(INTERVAL)]);
    expect(harness.waits).toEqual([BACKOFF]);
  });

  it('is probed as often for ever, so that it is found once it is back', async ({ ejected: { fake, harness } }) => {
    fake.all = reset;
    for (let i = 0; i < 5; i += 1) {
      expect(harness.waits).toEqual([BACKOFF]);
      await harness.probe();
    }
  });
});

describe('probation', () => {
  it('begins with the first healthy probe', async ({ ejected: { harness } }) => {
    await harness.probe();
    expect(harness.engine('e')).toMatchObject({ state: 'probation', trouble: undefined });
    expect(harness.take()).toEqual([{ ...JOINED, probation: true }, REPORTED]);
    expect(harness.waits).toEqual([INTERVAL]);
  });

  it('ends with anything that succeeds, whether the scheduler sees it or not: it is told, once', async ({
    onProbation: { fake, harness },
  }) => {
    harness.call('e', 'succeeded', 2);
    expect(harness.engine('e').state).toBe('up');
    expect(harness.take()).toEqual([JOINED]);
    await harness.probe();
    expect(types(harness.take())).toEqual(['engineReported']);
    fake.routes.set('/v1/models', modelList(['n']));
    await harness.probe();
    expect(harness.take()[0]).toEqual({ type: 'engineJoined', engine: 'e', models: ['n'], capacityTokens: 1000 });
  });

  it('ends with one call that fails, and a longer backoff each time', async ({ onProbation: { harness } }) => {
    for (const factor of [2, 4, BACKOFF_MAX / BACKOFF, BACKOFF_MAX / BACKOFF]) {
      harness.call('e', 'unreached');
      expect(harness.engine('e').state).toBe('down');
      expect(harness.take()).toEqual([lostAfter(0)]);
      expect(harness.waits).toEqual([factor * BACKOFF]);
      await harness.probe();
      expect(harness.engine('e').state).toBe('probation');
      harness.take();
    }
    harness.call('e', 'succeeded');
    harness.call('e', 'unreached', FAILURES_MAX);
    expect(harness.waits).toEqual([BACKOFF]);
  });

  it('ends with the next good probe; an ejection before any success still lengthens the backoff', async ({
    onProbation: { harness },
  }) => {
    await harness.probe();
    expect(harness.engine('e').state).toBe('up');
    expect(harness.take()).toEqual([JOINED, REPORTED]);
    harness.call('e', 'unreached', FAILURES_MAX);
    expect(harness.waits).toEqual([2 * BACKOFF]);
  });

  it('ends with one probe that fails', async ({ onProbation: { fake, harness } }) => {
    fake.all = 503;
    await harness.probe();
    expect(harness.take()).toEqual([lostAfter(INTERVAL)]);
  });

  it('finds out anew what came back', async () => {
    const { fake, harness } = await probed(undefined, { kind: 'auto' });
    expect(harness.engine('e').adapter.kind).toBe('vllm');
    harness.call('e', 'unreached', FAILURES_MAX);
    expect(harness.engine('e').adapter.kind).toBe('vllm');
    fake.routes.clear();
    fake.routes.set('/v1/models', modelList(['other'], 'sglang'));
    harness.take();
    await harness.probe();
    expect(harness.engine('e').adapter.kind).toBe('sglang');
    expect(harness.take()).toEqual([{ type: 'engineJoined', engine: 'e', models: ['other'], probation: true }]);
  });
});
