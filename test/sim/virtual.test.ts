import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../loadbalancer/index.js';
import { PRESETS } from '../../sim/index.js';
import { Agenda } from '../../sim/virtual/agenda.js';
import { runWorld, type PlannedProgram, type WorldResult } from '../../sim/virtual/world.js';
import { configSchema } from '../../sidecar/config/schema.js';

const preset = PRESETS['llama-3.1-8b-a100'];

function play(
  policy: 'fcfs' | 'plas',
  programs: readonly PlannedProgram[],
  kvTokens: number = preset.kvTokens,
): WorldResult {
  const config = configSchema.parse({ policy: { name: policy } });
  return runWorld({
    programs,
    engines: 2,
    engine: { preset: { ...preset, kvTokens }, blockSize: 16, scheduling: 'fcfs' },
    config,
    balancer: makeBalancer(config.balancer),
    sharedTokens: 512,
  });
}

/** Ten turns, each a continuation of the one before, half a second of tools between them. */
const agent = (arrivesAtMs: number): PlannedProgram => ({
  arrivesAtMs,
  calls: Array.from({ length: 10 }, (_, turn) => ({ promptTokens: 4000 + turn * 400, outputTokens: 100, gapMs: 500 })),
});

describe('the agenda', () => {
  it('gives entries back by time, and equal times in the order in which they were put down', () => {
    const agenda = new Agenda();
    const seen: string[] = [];
    for (const [at, name] of [
      [5, 'e'],
      [1, 'a'],
      [3, 'c'],
      [3, 'd'],
      [2, 'b'],
      [9, 'f'],
    ] as const)
      agenda.put(at, () => seen.push(name));
    for (let next = agenda.take(); next !== undefined; next = agenda.take()) next.run();
    expect(seen.join('')).toBe('abcdef');
    expect(agenda.size).toBe(0);
  });
});

describe('the virtual world', () => {
  it('gives the same result for the same programs', () => {
    const programs = Array.from({ length: 12 }, (_, index) => agent(index * 100));
    expect(play('plas', programs, 40_000)).toEqual(play('plas', programs, 40_000));
  });

  it('lets a lone program find its context again at every turn', () => {
    const { programs, hitRate, longestQueueSeconds } = play('plas', [agent(0)]);
    expect(programs).toHaveLength(1);
    expect(longestQueueSeconds).toBe(0);
    // Only what each turn adds is computed: 400 tokens of about 6,000, and all of the first prompt.
    expect(hitRate).toBeGreaterThan(0.8);
  });

  it('finishes programs that outgrow the cache sooner with the gate than passed through', () => {
    const programs = Array.from({ length: 24 }, () => agent(0));
    const [through, gated] = [play('fcfs', programs, 40_000), play('plas', programs, 40_000)];
    const mean = (result: WorldResult): number =>
      result.programs.reduce((sum, program) => sum + program.seconds, 0) / result.programs.length;
    expect(gated.hitRate).toBeGreaterThan(through.hitRate);
    expect(mean(gated)).toBeLessThan(mean(through));
    expect(gated.programs).toHaveLength(24);
  });
});
