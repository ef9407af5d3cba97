import { describe, expect, it } from 'vitest';
import { SIM_POLICIES } from '../../../sim/policies/policies.js';
import type { WorldOptions } from '../../../sim/virtual/options.js';
import type { AgentProgram } from '../../../workloads/program.js';
import { Dice } from '../../../workloads/dice.js';
import { play, programOf, recorded, stepsOf, type Step } from '../../support/sim-play.js';

const PROGRAMS = 16;
const KV_TOKENS = 12_000;
const TURN_MS = 20_000;

/** Chains with tools and sub-agents that fill two small engines. Nothing is the same from the call before `fork` on. */
function programs(fork: number | undefined): AgentProgram[] {
  return Array.from({ length: PROGRAMS }, (_, index) => {
    const dice = Dice.of(3, index);
    const calls = Array.from({ length: 12 }, (_turn, at) => ({
      after: at === 0 ? [] : at % 4 === 3 ? [at - 2, at - 1] : [at % 4 === 2 ? at - 2 : at - 1],
      thread: at % 4 === 2 ? 'sub' : '',
      promptTokens: 600 + 200 * at + dice.int(0, 300),
      outputTokens: dice.int(5, 200),
      gapMs: dice.int(0, 4000),
      ...(dice.share() < 0.5 && { tools: [{ name: 'bash' }] }),
    }));
    const known = calls.slice(0, fork);
    const last = known.length - 1;
    const other = { ...known[last]!, outputTokens: fork === undefined ? known[last]!.outputTokens : 900 };
    return programOf(`p${index}`, index * 700, known.with(last, other));
  });
}

const before = (log: readonly Step[], atMs: number) => log.filter(({ now }) => now < atMs);

const namesOf = (log: readonly Step[]) =>
  log.flatMap(({ event }) => (event.type === 'callArrived' ? [event.call] : []));
/** From each hash of a prompt to the next, and from one prompt to the other: block numbers would lie close together. */
function gaps(prefixes: readonly (readonly number[])[]): number[] {
  const hashes = prefixes.flat();
  return hashes.slice(1).map((hash, at) => hash - (hashes[at] ?? NaN));
}

describe('what a policy knows', () => {
  it.each(SIM_POLICIES)('%s: without the oracle, nothing of what is to come', (policy) => {
    const runs = [undefined, 5].map((fork) => {
      const seeing = stepsOf(policy, { admission: { window: 4 } });
      const { steps, log } = recorded({ step: (event, now) => seeing.step(event, now) });
      const { callRecords } = play(programs(fork), { scheduler: steps, kvTokens: KV_TOKENS, alone: false });
      return { log, callRecords };
    });
    const [long, forked] = runs as [(typeof runs)[number], (typeof runs)[number]];
    // The first moment at which anybody could see a difference: a call ends that takes longer in the other run.
    const differs = Math.min(...long.callRecords.filter(({ call }) => call === 4).map((record) => record.endedMs));
    expect(differs).toBeGreaterThan(TURN_MS / 4);
    expect(before(forked.log, differs)).toEqual(before(long.log, differs));
    expect(before(long.log, differs).length).toBeGreaterThan(100);
  });

  it('names of calls and hashes of prompts say nothing of it either', () => {
    const size = { promptTokens: 2000, outputTokens: 100 };
    const [short, long] = [0, 30].map((more) => {
      const { steps, log } = recorded(stepsOf('plas'));
      const prefixes: (readonly number[])[] = [];
      const scheduler: WorldOptions['scheduler'] = (prefixOf) => ({
        ...steps,
        step(event, now) {
          if (event.type === 'callArrived' && now < 20_000) prefixes.push(prefixOf(event.call));
          return steps.step(event, now);
        },
      });
      // Of the first program, calls a minute later stand before one that comes soon, and its last answer is longer.
      const later = Array.from({ length: more }, () => ({ ...size, after: [0], gapMs: 60_000 }));
      const soon = { ...size, outputTokens: size.outputTokens + 20 * more, after: [0], gapMs: 5000 };
      play([programOf('first', 0, [size, ...later, soon]), programOf('second', 1, [size])], { scheduler });
      return { log: before(log, 20_000), prefixes };
    });
    expect(long!.prefixes.map((prefix) => prefix.length)).toEqual([7, 7, 7]);
    expect(namesOf(long!.log)).toEqual(namesOf(short!.log));
    for (const { prefixes } of [short!, long!]) expect(gaps(prefixes).every((gap) => Math.abs(gap) > 1e6)).toBe(true);
  });

  it('clairvoyant policies see it with the oracle', () => {
    const logs = [undefined, 5].map((fork) => {
      const { steps, log } = recorded(stepsOf('srpt', { admission: { window: 1 } }));
      play(programs(fork), { scheduler: steps, kvTokens: KV_TOKENS, alone: false });
      return before(log, 2 * TURN_MS).flatMap(({ commands }) => commands);
    });
    expect(logs[0]).not.toEqual(logs[1]);
  });
});
