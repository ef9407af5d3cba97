import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { Accounts } from '../../../src/programs/accounts.js';
import { modelId, tenantId, tokens } from '../../../src/protocol/units.js';
import { WaitQueue } from '../../../src/queues/wait-queue.js';
import type { Waiting } from '../../../src/queues/wait-queue.js';
import { coreConfig } from '../../support/core-config.js';
import { Dice } from '../../support/dice.js';
import { Desk, sentOut } from '../../support/core-desk.js';
import { cancelled, ended, shared, sized } from '../../support/core-events.js';

/** One engine of 1,000 tokens, all of which the gate gives; `p` has left a context of 300 there. */
function heldDesk(changes: ConstructorParameters<typeof Desk>[0] = {}): Desk {
  const desk = new Desk({
    ...changes,
    policy: { msPerPromptToken: 100 },
    admission: { gate: 1, outputReserveTokens: 0, ...changes.admission },
  }).with('A', sized(8, 1_000));
  for (const n of [1, 2, 3]) desk.serve(`p${n}`, { program: 'p', prompt: 300 }, { prompt: 300, output: 0 });
  return desk;
}

describe('a context that a call waits to come back to', () => {
  it('counts no longer once its call is gone, and what fits then goes at once', () => {
    const desk = heldDesk();
    desk.arrive('run', { prompt: 600 });
    desk.arrive('back', { program: 'p', prompt: 500 });
    expect(desk.arrive('new', { prompt: 350 })).toEqual([]);
    expect(sentOut(desk.tell(cancelled('back')))).toEqual(['new@A']);
  });

  it('so it does when its call is refused for want of a place in the queue', () => {
    const desk = heldDesk({ limits: { queuedMax: 1 } });
    desk.arrive('run', { prompt: 600 });
    expect(desk.arrive('new', { prompt: 350 })).toEqual([]);
    const commands = desk.arrive('back', { program: 'p', prompt: 500 });
    expect(commands).toMatchObject([
      { type: 'reject', call: 'back', refusal: 'queue_full' },
      { type: 'dispatch', call: 'new' },
    ]);
  });

  it('counts no longer on an engine that its call has left', () => {
    const desk = heldDesk({ starvation: { waitMsMax: 500 } });
    desk.arrive('run', { prompt: 600 });
    desk.pass(1);
    desk.arrive('back', { program: 'p', prompt: 500 });
    expect(desk.engine('A').workingSetTokens).toBe(900);
    desk.pass(500);
    expect(desk.engine('A').workingSetTokens).toBe(600);
  });

  it('counts as long as another call of its thread waits for it', () => {
    const desk = heldDesk();
    desk.arrive('run', { prompt: 600 });
    for (const call of ['back', 'again']) desk.arrive(call, { program: 'p', prompt: 500 });
    desk.tell(cancelled('back'));
    expect(desk.engine('A').workingSetTokens).toBe(900);
    desk.tell(cancelled('again'));
    expect(desk.engine('A').workingSetTokens).toBe(600);
  });

  it('counts in full when it falls idle while a call of its thread waits', () => {
    const desk = heldDesk();
    desk.arrive('run', { prompt: 600 });
    desk.arrive('first', { program: 'p', prompt: 300 });
    desk.arrive('second', { program: 'p', prompt: 700 });
    desk.finish('first', { prompt: 300, output: 0 });
    desk.pass(60_000);
    expect(desk.engine('A').workingSetTokens).toBe(900);
  });
});

describe('what a waiting call needs', () => {
  /** One engine of 1,000 tokens: `other` takes 300 of them, `first`, a call of `p`, 600. */
  function sharedDesk(): Desk {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0 } }, 'sticky').with('A', sized(100, 1_000));
    desk.arrive('other', { prompt: 300 });
    desk.arrive('first', { program: 'p', prompt: 600 });
    return desk;
  }

  it('sinks when another call of its thread begins to run', () => {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0 } }, 'sticky').with('A', sized(100, 1_000));
    desk.arrive('p0', { program: 'p', prompt: 10 });
    desk.arrive('run', { program: 'r', prompt: 900 });
    for (const call of ['p1', 'p2']) expect(desk.arrive(call, { program: 'p', prompt: 600 })).toEqual([]);
    expect(sentOut(desk.tell(cancelled('run')))).toEqual(['p1@A', 'p2@A']);
  });

  it('is no longer a return once its context is evicted: idle ones make way no more', () => {
    const desk = heldDesk();
    for (const n of [1, 2, 3]) desk.serve(`o${n}`, { program: 'other', prompt: 900 }, { prompt: 900, output: 0 });
    desk.arrive('run', { prompt: 10 });
    expect(desk.arrive('back', { program: 'p', prompt: 500 })).toEqual([]);
  });

  it('nor is it for any of a large fan-out', () => {
    const desk = heldDesk();
    desk.arrive('small', { prompt: 10 });
    desk.arrive('run', { prompt: 600 });
    for (let n = 0; n < 70; n += 1) desk.arrive(`back${n}`, { program: 'p', prompt: 500 });
    desk.tell(shared('A', { cachedTokens: tokens(2_000), claimTokens: tokens(900) }));
    expect(desk.tell(cancelled('run'))).toEqual([]);
  });

  it('rises when the last that ran has ended, for each of a large fan-out', () => {
    const desk = sharedDesk();
    for (let n = 0; n < 70; n += 1) desk.arrive(`p${n}`, { program: 'p', prompt: 900 });
    expect(desk.finish('first', { prompt: 600, output: 0 })).toEqual([]);
  });
});

it('what a call needs follows the size of the engines that may run it', () => {
  const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0 } }).with('A', sized(1, 160_000));
  for (let n = 0; n < 40; n += 1) {
    for (let at = 0; at < 10; at += 1)
      desk.serve(`${n}.${at}`, { program: `p${n}`, prompt: 1_000 * (at + 1) }, { prompt: 1_000 * (at + 1), output: 0 });
    desk.tell(ended(`p${n}`));
  }
  // Expected to grow to some 7,000 tokens, of which a cache of 8,000 counts a sixteenth of itself at most.
  for (let n = 0; n < 9; n += 1) desk.arrive(`new${n}`, { prompt: 1_000 });
  expect(desk.join('B', sized(20, 8_000))).toHaveLength(8);
});

it('a queue of several tenants gives the first call that fits, as a search through all of them does', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const dice = new Dice(seed);
    const accounts = new Accounts(coreConfig({ policy: { tenants: 'weighted' } }));
    const queue = new WaitQueue<Waiting>();
    let model: Waiting[] = [];
    for (let seq = 0; seq < 120; seq += 1) {
      if (dice.chance(0.55)) {
        const program = { tenant: tenantId(`t${dice.int(0, 4)}`) };
        const admissionClass = dice.pick(['resident', 'aged', 'new'] as const);
        const turn = accounts.turnOf({ program, model: modelId('m') });
        const call = {
          seq,
          turn,
          admissionClass,
          level: dice.int(0, 2),
          rank: 0,
          extraTokens: dice.int(0, 30),
          isAged: dice.chance(0.1),
        };
        queue.insert(call);
        model.push(call);
      } else if (model.length > 0) {
        const gone = dice.pick(model);
        queue.delete(gone);
        model = model.filter((call) => call !== gone);
        if (dice.chance(0.2)) accounts.runs(gone.turn, 1);
      }
      if (dice.chance(0.1)) {
        for (const call of model) (call as { extraTokens: number }).extraTokens = dice.int(0, 30);
        queue.refresh();
      }
      const room = { resident: dice.int(-1, 30), aged: dice.int(-1, 30), new: dice.int(-1, 10) };
      const firstOf = (calls: Waiting[]) =>
        calls.reduce<Waiting | undefined>((a, b) => accounts.firstOf(a, b), undefined);
      const fitting = model.filter((call) => call.extraTokens <= room[call.admissionClass]);
      assert.equal(
        queue.firstFit(room, accounts, () => true),
        firstOf(fitting),
      );
      assert.equal(queue.firstAged(accounts), firstOf(model.filter(({ isAged }) => isAged)));
      assert.equal(queue.first(accounts), firstOf(model));
      assert.equal(queue.size, model.length);
      assert.deepEqual(new Set(queue), new Set(model));
      const atLevel = (level: number) => model.filter((call) => call.level === level).length;
      const counts: number[] = [];
      queue.countLevels(counts);
      assert.deepEqual(
        [0, 1, 2].map((level) => counts[level] ?? 0),
        [0, 1, 2].map(atLevel),
      );
      const last = model.at(-1);
      if (last === undefined) continue;
      const others = model.filter(
        ({ turn, admissionClass, level }) => turn === last.turn && admissionClass === last.admissionClass && level <= 1,
      );
      const calls = others.filter((call) => call !== last);
      const larger = calls.reduce((sum, call) => sum + call.extraTokens, 0) > calls.length * last.extraTokens;
      assert.equal(queue.ahead(last, 1), larger ? 0 : calls.length);
    }
  }
});
