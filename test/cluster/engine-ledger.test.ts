import fc from 'fast-check';
import { describe, expect, it as base } from 'vitest';
import { DividedLedger } from '../../sim/virtual/memory-store.js';
import { gatewayId, type EngineClaim, type GatewayId } from '../../cluster/index.js';
import { engineId, NO_STEPS, tokens } from '../../src/index.js';
import { claimOf as claim } from '../support/shared-desk.js';

const ENGINE = engineId('e');
const WINDOW = 8;
const [a, b] = [gatewayId('a'), gatewayId('b')];

const claimOf = (facts: Partial<EngineClaim>): EngineClaim => claim(ENGINE, { window: WINDOW, ...facts });

/** A test with a ledger in which nobody has claimed yet. */
const it = base.extend('ledger', () => new DividedLedger(ENGINE));

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
const slotsOf = (ledger: DividedLedger) => [...ledger.parts().values()].map(({ slots = 0 }) => slots);

describe('an engine’s ledger', () => {
  it('never gives more slots than the window, and no gateway less than an equal share for long while calls wait', () => {
    const move = fc.record({
      gateway: fc.nat(3),
      inFlight: fc.double({ min: 0, max: 1, noNaN: true }),
      keeps: fc.double({ min: 0, max: 1, noNaN: true }),
      waiting: fc.array(fc.nat(3), { maxLength: 4 }),
      leaves: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const ledger = new DividedLedger(ENGINE);
        const running = new Map<GatewayId, number>();
        const slots = (id: GatewayId) => ledger.partOf(id)?.slots ?? 0;
        const claim = (id: GatewayId, calls: number, keeps: number, waiting: readonly number[]) => {
          running.set(id, calls);
          ledger.claim(id, claimOf({ inFlight: calls, keeps, waiting }));
          expect(sumOf(slotsOf(ledger))).toBeLessThanOrEqual(WINDOW);
          expect(sumOf([...running.values()])).toBeLessThanOrEqual(WINDOW);
        };
        for (const { gateway, inFlight, keeps, waiting, leaves } of moves) {
          const id = gatewayId(`g${gateway}`);
          // As a gateway that obeys: no more in flight than it has slots for.
          const calls = Math.floor(inFlight * slots(id));
          if (leaves && calls === 0) {
            ledger.leave(id);
            running.delete(id);
          } else claim(id, calls, Math.floor(keeps * slots(id)), waiting);
        }
        // All become busy: each starts what it may.
        const live = [...running.keys()];
        for (let i = 0; i < 4; i += 1) for (const id of live) claim(id, slots(id), slots(id), [WINDOW]);
        for (const id of live) expect(slots(id)).toBeGreaterThanOrEqual(Math.floor(WINDOW / live.length));
      }),
    );
  });

  it('gives a freed slot to the better level, whichever gateway freed it', ({ ledger }) => {
    ledger.claim(a, claimOf({ waiting: [0, 0, 9] }));
    ledger.claim(a, claimOf({ inFlight: 8, keeps: 8, waiting: [0, 0, 1] }));
    ledger.claim(b, claimOf({ waiting: [0, 2] }));
    // It starts no call above its share.
    expect(ledger.parts().get(a)).toMatchObject({ slots: 4, waitingLevel: 1 });
    ledger.claim(a, claimOf({ inFlight: 7, keeps: 4, waiting: [0, 0, 1] }));
    expect(ledger.parts().get(a)).toMatchObject({ slots: 4, waitingLevel: 1, inFlight: 0 });
    expect(ledger.parts().get(b)).toMatchObject({ slots: 1, inFlight: 7 });
  });

  it('takes a slot above a share that is no whole number from as many gateways as wait for one, once they have used it', ({
    ledger,
  }) => {
    const claim = (id: string, inFlight: number, waiting = [WINDOW]) =>
      ledger.claim(gatewayId(id), claimOf({ inFlight, keeps: inFlight, waiting }));
    const slots = (...ids: string[]) => ids.map((id) => ledger.partOf(gatewayId(id))?.slots);
    // Of eight slots each of three gateways should have two and two thirds.
    for (let round = 0; round < 2; round += 1)
      for (const [id, calls] of [
        ['a', 3],
        ['b', 3],
        ['c', 2],
      ] as const)
        claim(id, calls);
    expect(slots('a', 'b', 'c')).toEqual([2, 3, 2]);
    claim('a', 2, []);
    expect(slots('a', 'b', 'c')).toEqual([2, 3, 3]);
  });

  it('takes such a slot from two gateways where two wait, and from none that has not used it', ({ ledger }) => {
    const claim = (id: string, inFlight: number, keeps = inFlight) =>
      ledger.claim(gatewayId(id), claimOf({ window: 6, inFlight, keeps, waiting: [WINDOW] }));
    const slots = () => ['a', 'b', 'c', 'd'].map((id) => ledger.partOf(gatewayId(id))?.slots);
    for (const id of ['c', 'd']) claim(id, 1);
    for (const id of ['a', 'b']) claim(id, 2);
    for (const id of ['c', 'd']) claim(id, 1);
    for (const id of ['a', 'b']) claim(id, 2);
    expect(slots()).toEqual([1, 1, 1, 1]);
    claim('a', 1, 2);
    expect(slots()[0]).toBe(2);
  });

  it('counts calls in flight at once that it has not given slots for, as after it lost its memory', ({ ledger }) => {
    ledger.claim(a, claimOf({ inFlight: 6, keeps: 8 }));
    expect(ledger.parts().get(a)).toMatchObject({ slots: 8 });
    ledger.claim(b, claimOf({ inFlight: 5, keeps: 5, waiting: [1] }));
    // 13 for a window of 8: nothing is given, and neither starts a call, until enough have ended.
    expect(slotsOf(ledger)).toEqual([4, 4]);
    ledger.claim(a, claimOf({ inFlight: 4, keeps: 4, waiting: [9] }));
    expect(slotsOf(ledger)).toEqual([4, 4]);
    ledger.claim(b, claimOf({ inFlight: 4, keeps: 4, waiting: [1] }));
    expect(slotsOf(ledger)).toEqual([4, 4]);
  });

  it('tells each gateway what the others have and want, and nothing of its own', ({ ledger }) => {
    const held = {
      inFlight: 2,
      loadTokens: tokens(30),
      weight: 0.5,
      steps: [1, 2, 3, 4, 5],
      activeTokens: tokens(20),
      claimTokens: tokens(10),
      cachedTokens: tokens(40),
      ended: 5,
    };
    ledger.claim(a, claimOf({ ...held, keeps: 2, waiting: [0, 9] }));
    const nothing = {
      inFlight: 0,
      loadTokens: 0,
      weight: 0,
      steps: NO_STEPS,
      activeTokens: 0,
      claimTokens: 0,
      cachedTokens: 0,
      ended: 0,
    };
    expect(ledger.partOf(a)).toEqual({ engine: ENGINE, slots: WINDOW, ...nothing, waitingGateways: 0 });
    ledger.claim(b, claimOf({}));
    expect(ledger.partOf(a)).toMatchObject({ ...nothing, waitingGateways: 0 });
    expect(ledger.partOf(b)).toMatchObject({ ...held, waitingGateways: 1, waitingLevel: 1 });
    ledger.claim(b, claimOf({ waiting: [0, 9] }));
    expect(ledger.partOf(a)).toMatchObject({ ...nothing, waitingGateways: 1, waitingLevel: 1 });
  });

  it('follows a window that shrinks, however many calls wait', ({ ledger }) => {
    for (const id of [a, b]) ledger.claim(id, claimOf({ window: 9, waiting: [9] }));
    const running = slotsOf(ledger);
    for (let round = 0; round < 9; round += 1)
      for (const [i, id] of [a, b].entries()) {
        // Each call that ends is followed by another one, up to the slots.
        const slots = ledger.partOf(id)!.slots!;
        running[i] = running[i]! > slots ? running[i]! - 1 : slots;
        ledger.claim(id, claimOf({ window: 4, inFlight: running[i], keeps: slots, waiting: [9] }));
      }
    expect(running).toEqual([2, 2]);
  });
});
