import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { smallAgent, SWE_AGENT, syntheticAgents, type AgentProgram } from '../../../workloads/index.js';

const SHAPES = { SWE_AGENT, smallAgent: smallAgent(2000) };
const digest = (programs: readonly AgentProgram[]) =>
  createHash('sha256').update(JSON.stringify(programs)).digest('hex');
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

describe.each(Object.entries(SHAPES))('programs of %s', (_, shape) => {
  it('are the same bytes for the same seed, and others for another', () => {
    expect(digest(syntheticAgents(shape, 8, 7))).toBe(digest(syntheticAgents(shape, 8, 7)));
    expect(digest(syntheticAgents(shape, 8, 7))).not.toBe(digest(syntheticAgents(shape, 8, 8)));
  });

  it('do not change when there are more of them', () => {
    expect(syntheticAgents(shape, 12, 3).slice(0, 5)).toEqual(syntheticAgents(shape, 5, 3));
  });

  it('begin with the same words of the system and differ from their task on', () => {
    const openings = syntheticAgents(shape, 20, 1).map((program) => program.calls[0]!.messages!);
    expect(new Set(openings.map(([system]) => system!.content)).size).toBe(1);
    expect(new Set(openings.map(([, task]) => task!.content.slice(0, 64))).size).toBe(20);
  });

  it('can be played: each call says something new, costs tokens, and only the first has no gap', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.double({ min: 1, max: 6, noNaN: true }), (seed, bytesPerToken) => {
        for (const { calls } of syntheticAgents(shape, 3, seed, { bytesPerToken })) {
          expect(calls[0]!.gapMs).toBe(0);
          for (const call of calls.slice(1)) expect(call.gapMs).toBeGreaterThan(0);
          for (const { messages, answer, outputTokens } of calls) {
            expect(messages!.every(({ content }) => content.length > 0)).toBe(true);
            expect(answer).not.toBe('');
            expect(Number.isInteger(outputTokens) && outputTokens > 0).toBe(true);
          }
        }
      }),
      { numRuns: 25, seed: 4 },
    );
  });
});

describe('sizes', () => {
  it('of SWE agents are those of the public recordings', () => {
    const programs = syntheticAgents(SWE_AGENT, 300, 1);
    const calls = programs.flatMap((program) => program.calls);
    const within = (value: number, wanted: number, slack: number) => {
      expect(value).toBeGreaterThan(wanted * (1 - slack));
      expect(value).toBeLessThan(wanted * (1 + slack));
    };
    within(mean(programs.map((program) => program.calls.length)), 38, 0.15);
    within(median(calls.map((call) => call.outputTokens)), 89, 0.1);
    within(mean(calls.map((call) => call.outputTokens)), 284, 0.35);
    within(mean(calls.map((call) => call.promptTokens)), 15_800, 0.35);
  });

  it.each([800, 2600, 9000])('of small agents grow to %i tokens on average, a quarter more or less', (tokens) => {
    const largest = syntheticAgents(smallAgent(tokens), 200, 1).map(({ calls }) =>
      Math.max(...calls.map(({ promptTokens, outputTokens }) => promptTokens + outputTokens)),
    );
    expect(mean(largest)).toBeGreaterThan(tokens * 0.9);
    expect(mean(largest)).toBeLessThan(tokens * 1.1);
    expect(Math.max(...largest)).toBeLessThan(tokens * 1.6);
  });
});
