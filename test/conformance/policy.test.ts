import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { LasDecayed } from '../../sim/policies/las-decayed.js';
import { srpt } from '../../sim/policies/policies.js';
import { coreConfig } from '../support/core-config.js';
import { millis, POLICY_NAMES, type PolicyName } from '../../src/index.js';
import type { CoreChanges } from '../support/core-config.js';
import type { PlayOptions, WatchingPolicy } from '../support/core-moment.js';
import { play } from '../support/core-play.js';
import { Desk, balancerNamed, sentOut } from '../support/core-desk.js';
import { ended } from '../support/core-events.js';
import { openEngines } from '../support/core-standing.js';

const SEEDS = Array.from({ length: 60 }, (_, index) => 10_000 + index);

/** Forecasts for ranking: a different one for each call, or none at all. */
const SEEING = {
  of: (id: unknown) => spread(id),
};
const BLIND = { of: () => undefined };

const spread = (id: unknown): number => Buffer.from(String(id)).reduce((sum, byte) => (sum * 31 + byte) % 997, 7);

type Foreseeing = Parameters<typeof srpt>[0];
/** Policies of the simulator, made afresh. */
const PEERS: Readonly<Record<string, (foresight: Foreseeing) => WatchingPolicy>> = {
  'las-decayed': () => new LasDecayed(),
  srpt,
};

describe.each([...POLICY_NAMES, ...Object.keys(PEERS)])('the policy %s', (name) => {
  const peer = PEERS[name];
  const policy = peer === undefined ? (name as PolicyName) : () => peer(SEEING);
  const deskOf = (changes: CoreChanges = {}): Desk =>
    peer === undefined
      ? new Desk({ ...changes, policy: { name: name as PolicyName } })
      : new Desk(changes, 'program-affinity', peer(BLIND));
  const desk = (window = 2): Desk => deskOf().with('A', { window });

  it('is what its name says, also after a change of settings', () => {
    const { scheduler, ...made } = desk();
    expect(scheduler.views.policyName).toBe(name);
    const config = coreConfig(peer === undefined ? { policy: { name: name as PolicyName } } : {});
    scheduler.configure(config, balancerNamed('sticky'), millis(made.nowMs));
    expect(scheduler.views.policyName).toBe(name);
  });

  it('ends every call once, uses queues that exist, idles no engine that has room, and does the same again', () => {
    for (const seed of SEEDS) {
      const isFixed = seed % 2 === 0;
      const options: PlayOptions = {
        seed,
        policy,
        without: isFixed ? ['configure'] : [],
        adjust: (config) => ({ ...config, admission: { ...config.admission, gate: 0 } }),
      };
      const commands = play({
        ...options,
        onMoment(moment) {
          if (moment.event === undefined) return;
          for (const { engine, left } of openEngines(moment))
            assert.equal(left, undefined, `${left} waits while ${engine} has room`);
          const { views } = moment.scheduler;
          const sent = moment.commands.flatMap((command) => (command.type === 'dispatch' ? [command.level] : []));
          const shown = [...views.programs()].flatMap(({ level, threads }) => [
            level,
            ...threads.map((each) => each.level),
          ]);
          const levels = views.queue().byLevel.length;
          if (isFixed) for (const level of [...sent, ...shown]) assert.ok(level >= 0 && level < levels);
        },
        onEnd({ book }) {
          for (const call of book.calls.values()) assert.equal(call.ends.length, 1, call.id);
        },
      });
      assert.deepEqual(play(options), commands);
    }
  });

  it('works with no engine: waits for a lost one, refuses a model that nobody serves', () => {
    const none = deskOf();
    expect(none.arrive('a')).toEqual([{ type: 'reject', call: 'a', refusal: 'no_engine' }]);
    const made = desk();
    made.tell({ type: 'engineLost', engine: made.engine('A').id });
    expect(made.arrive('b')).toEqual([]);
    expect(sentOut(made.join('A'))).toEqual(['b@A']);
  });

  it('gives equals their turns in order of arrival', () => {
    const made = desk(1);
    const order = ['a', 'b', 'c', 'd'];
    for (const call of order) made.arrive(call);
    for (const call of order) made.finish(call);
    expect(sentOut(made.log)).toEqual(order.map((call) => `${call}@A`));
  });

  it('gives a call that a full engine sent back its place again', () => {
    const made = desk(1);
    for (const call of ['a', 'b']) made.arrive(call);
    for (const call of ['a', 'b']) made.fail(call, 'busy', 10);
    expect(sentOut(made.pass(20))[0]).toBe('a@A');
  });

  it('gives a call that has waited for waitMsMax its turn before younger ones', () => {
    const made = deskOf({ starvation: { waitMsMax: 1_000 } }).with('A', { window: 1 });
    made.serve('past', { program: 'heavy' }, { afterMs: 60_000, prompt: 900_000, output: 100_000 });
    made.arrive('run');
    made.arrive('heavy-call', { program: 'heavy' });
    made.pass(1_000);
    made.arrive('young');
    made.finish('run');
    expect(made.dispatchOf('heavy-call')).toBeDefined();
  });

  it('charges nothing to a program that has begun anew', () => {
    const made = desk();
    made.serve('a', { program: 'p' }, { afterMs: 60_000, prompt: 1_000, output: 1_000 });
    made.tell(ended('p'));
    made.arrive('b', { program: 'p' });
    expect(made.program('p')).toMatchObject({ serviceMs: 0, callsTotal: 1 });
    expect(made.dispatchOf('b')?.level).toBe(made.dispatchOf('a')?.level);
  });
});
