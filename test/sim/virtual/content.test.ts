import { describe, expect, it } from 'vitest';
import { Layout, Texts } from '../../../sim/virtual/content.js';
import { play, programOf, type CallFacts } from '../../support/sim-play.js';

const BLOCK = 16;
const OWN = { promptTokens: 800, outputTokens: 8 };
/** Calls far apart in time, on one engine: what each finds in the cache, in order of arrival. */
function cached(...programs: readonly (readonly CallFacts[])[]): number[] {
  const all = programs.map((calls, index) =>
    programOf(
      `p${index}`,
      index * 100_000,
      calls.map((call) => ({ gapMs: 10, ...call })),
    ),
  );
  return play(all, { engines: 1, policy: 'pass-through' }).callRecords.map((record) => record.cachedTokens);
}

describe('what prompts consist of', () => {
  it('is what they keep of an earlier conversation, to the block, and then their own', () => {
    const first = { promptTokens: 160, outputTokens: 32 };
    expect(cached([first, { ...first, prefix: { call: 0, tokens: 100 } }])).toEqual([0, 96]);
    // All of the answer but its last token, which was never computed.
    expect(cached([first, { ...first, promptTokens: 400, prefix: { call: 0, tokens: 192 } }])).toEqual([0, 176]);
  });

  it('goes back to where two calls part, through those in between', () => {
    const keeps = (call: number, tokens: number) => ({ ...OWN, prefix: { call, tokens } });
    const found = cached([OWN, keeps(0, 320), keeps(1, 352), keeps(0, 352), keeps(2, 320)]);
    expect(found).toEqual([0, 320, 352, 352, 320]);
  });

  it('is shared by all programs where it is a text with a name', () => {
    const named = (name: string, tokens: number): CallFacts[] => [{ ...OWN, prefix: { name, tokens } }];
    expect(cached(named('s', 320), named('s', 480), named('t', 480), named('s', 640))).toEqual([0, 320, 0, 480]);
  });

  it('is shared by all programs where it is blocks of the same ids', () => {
    const of = (promptTokens: number, ...blocks: number[]): CallFacts[] => [
      { ...OWN, promptTokens, prefix: { blocks, blockTokens: 512 } },
    ];
    expect(cached(of(1200, 7, 8, 9), of(1536, 7, 8, 10), of(1536, 7, 8, 9), of(500, 11))).toEqual([0, 1024, 1200, 0]);
  });

  it('is nobody else’s where nothing is said of it', () => {
    expect(cached([OWN, OWN], [OWN])).toEqual([0, 0, 0]);
  });

  it('is told a balancer by the hash of every 256 tokens, the same for the same beginning', () => {
    const texts = new Texts(BLOCK, 1000);
    const program = programOf('p', 0, [
      { promptTokens: 1100, outputTokens: 10 },
      { promptTokens: 1100, outputTokens: 10, prefix: { call: 0, tokens: 600 } },
    ]);
    const layout = new Layout(program, texts);
    const [first, second] = [layout.prefix(0, 1100), layout.prefix(1, 1100)];
    expect(first).toHaveLength(4);
    expect(second.slice(0, 2)).toEqual(first.slice(0, 2));
    expect(second[2]).not.toBe(first[2]);
  });
});
