import { describe, expect, it } from 'vitest';
import { SIM_POLICIES } from '../../../sim/policies/policies.js';
import type { AgentProgram } from '../../../sim/traces/program.js';
import { Dice } from '../../../sim/workloads/dice.js';
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
    return programOf(
      `p${index}`,
      index * 700,
      known.map((call, at) => (at === last && fork !== undefined ? { ...call, outputTokens: 900 } : call)),
    );
  });
}

const before = (log: readonly Step[], atMs: number) => log.filter(({ now }) => now < atMs);

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

  it('clairvoyant policies see it with the oracle', () => {
    const logs = [undefined, 5].map((fork) => {
      const { steps, log } = recorded(stepsOf('srpt', { admission: { window: 1 } }));
      play(programs(fork), { scheduler: steps, kvTokens: KV_TOKENS, alone: false });
      return before(log, 2 * TURN_MS).flatMap(({ commands }) => commands);
    });
    expect(logs[0]).not.toEqual(logs[1]);
  });
});
