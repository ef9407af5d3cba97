import { describe, expect, it } from 'vitest';
import { simulate } from '../../demo/simulate.js';
import { configure } from '../../processes/gateway.js';
import type { AgentProgram } from '../../workloads/index.js';

const SCENE = { engines: 1, preset: 'tiny-cpu', kvTokens: 8192, gapScale: 0.5, gapMsMax: 4000 } as const;
const CONFIG = configure({ policy: 'plas', engines: [], speed: 1 });

/** Two calls; of the texts, 4 bytes are a token. */
const program = (id: string, outputTokens: number): AgentProgram => ({
  id,
  calls: [
    {
      after: [],
      thread: '',
      gapMs: 0,
      promptTokens: 0,
      outputTokens,
      messages: [{ role: 'system', content: 'be good '.repeat(100) }],
      answer: 'yes '.repeat(64),
    },
    {
      after: [0],
      thread: '',
      gapMs: 10_000,
      promptTokens: 0,
      outputTokens: 1,
      messages: [{ role: 'user', content: 'go on '.repeat(100) }],
      answer: 'ok',
    },
  ],
});

describe('a demo in virtual time', () => {
  it('counts prompts as the stand-in’s template makes them, and caches what is sent back', () => {
    const { view, outcomes } = simulate('plas', 1, [program('a', 65)], SCENE, CONFIG);
    // The opening's 200 tokens and 2 marks, and the mark of the answer; then 64 and its end, 150 and 2, and a mark.
    const [first, second] = [203, 203 + 65 + 152 + 1];
    expect(view.promptTokens).toBe(first + second);
    // Full blocks of 16 tokens of the first prompt and its answer.
    expect(view.cachedTokens).toBe(Math.floor((203 + 65) / 16) * 16);
    expect(outcomes).toMatchObject([{ id: 'a', calls: 2 }]);
    expect(outcomes[0]!.seconds).toBeGreaterThan(2);
  });

  it('finds no more of an answer in the cache than was sent back', () => {
    const { view } = simulate('plas', 1, [program('a', 400)], SCENE, CONFIG);
    expect(view.cachedTokens).toBe(Math.floor((203 + 65) / 16) * 16);
  });

  it('shares what programs begin with, and plays all at once', () => {
    const { outcomes, prefix } = simulate('plas', 1, [program('a', 65), program('b', 65)], SCENE, CONFIG);
    const alone = simulate('plas', 1, [program('a', 65)], SCENE, CONFIG);
    expect(outcomes).toHaveLength(2);
    expect(prefix.hits).toBeGreaterThanOrEqual(2 * alone.prefix.hits);
    expect(Math.max(...outcomes.map(({ seconds }) => seconds))).toBeLessThan(1.5 * alone.outcomes[0]!.seconds);
  });
});
