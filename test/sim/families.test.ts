import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../loadbalancer/index.js';
import { configSchema } from '../../sidecar/config/index.js';
import { PRESETS, runWorld } from '../../sim/index.js';
import { Scheduler } from '../../src/index.js';
import type { AgentCall, AgentProgram } from '../../workloads/index.js';

const SYSTEM_TOKENS = 12_000;

/** Agents of ten calls whose system prompts, of 12,000 tokens each, are those of so many families. */
function* agents(families: number): Generator<AgentProgram> {
  for (let number = 0; ; number += 1) {
    const calls = Array.from({ length: 10 }, (_, at): AgentCall => {
      const promptTokens = (index: number): number => SYSTEM_TOKENS + 1_000 + 1_200 * index;
      return {
        after: at === 0 ? [] : [at - 1],
        thread: '',
        gapMs: at === 0 ? 0 : 3_000,
        promptTokens: promptTokens(at),
        outputTokens: 200,
        prefix:
          at === 0
            ? { name: `make ${number % families}`, tokens: SYSTEM_TOKENS }
            : { call: at - 1, tokens: promptTokens(at - 1) + 200 },
      };
    });
    yield { id: `p${number}`, calls };
  }
}

/** Mean seconds of 100 programs on one engine of 160,000 tokens, and its preemptions. */
function run(families: number, sharedPrefixes: 'family' | 'none'): { meanS: number; preemptions: number } {
  const parsed = configSchema.parse({ admission: { sharedPrefixes } });
  const config = { ...parsed, timeouts: { ...parsed.timeouts, queueMs: 1e9 } };
  const durations: number[] = [];
  const { engines } = runWorld({
    programs: agents(families),
    maxPrograms: 100,
    arrivals: { type: 'open', ratePerSecond: 1.2, cv: 1 },
    seed: 1,
    engines: 1,
    engine: { preset: { ...PRESETS['llama-3.1-8b-a100'], kvTokens: 160_000 }, blockSize: 16, scheduling: 'fcfs' },
    scheduler: () => {
      const scheduler = new Scheduler(config, makeBalancer(config.balancer));
      return { step: (event, now) => scheduler.step(event, now) };
    },
    observer: { programEnded: ({ arrivedMs, endedMs }) => durations.push(endedMs - arrivedMs) },
    alone: false,
  });
  const meanS = durations.reduce((sum, ms) => sum + ms, 0) / durations.length / 1000;
  return { meanS, preemptions: engines.reduce((sum, engine) => sum + engine.preemptions, 0) };
}

describe('system prompts of 12,000 tokens', () => {
  it.each([1, 4, 8])('of %i families never overfill the engine', (families) => {
    expect(run(families, 'family').preemptions).toBe(0);
  });

  it.each([1, 4, 8])('of %i families let more programs run when each is counted once', (families) => {
    expect(run(families, 'family').meanS).toBeLessThan(0.9 * run(families, 'none').meanS);
  });
});
