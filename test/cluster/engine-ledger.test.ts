import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EngineLedger, gatewayId, type EngineClaim } from '../../cluster/index.js';
import { engineId, tokens } from '../../src/index.js';

const ENGINE = engineId('e');
const WINDOW = 8;

const claimOf = (facts: Partial<EngineClaim>): EngineClaim => ({
  engine: ENGINE,
  window: WINDOW,
  inFlight: 0,
  keeps: 0,
  loadTokens: tokens(0),
  activeTokens: tokens(0),
  claimTokens: tokens(0),
  cachedTokens: tokens(0),
  waiting: [],
  ...facts,
});

const slotsOf = (ledger: EngineLedger) => [...ledger.parts().values()].map(({ slots = 0 }) => slots);

describe('an engine’s ledger', () => {
  it('never gives more slots than the window, takes none away, and leaves none free while a call waits', () => {
    const move = fc.record({
      gateway: fc.nat(3),
      inFlight: fc.double({ min: 0, max: 1, noNaN: true }),
      keeps: fc.double({ min: 0, max: 1, noNaN: true }),
      waiting: fc.array(fc.nat(3), { maxLength: 4 }),
      leaves: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const ledger = new EngineLedger(ENGINE);
        for (const { gateway, inFlight, keeps, waiting, leaves } of moves) {
          const id = gatewayId(`g${gateway}`);
          const before = ledger.parts();
          const own = before.get(id)?.slots ?? 0;
          // As a gateway that obeys: no more in flight than it has slots for.
          const running = Math.floor(inFlight * own);
          if (leaves && running === 0) ledger.leave(id);
          else ledger.claim(id, claimOf({ inFlight: running, keeps: Math.floor(keeps * own), waiting }));
          const after = ledger.parts();
          expect(slotsOf(ledger).reduce((sum, slots) => sum + slots, 0)).toBeLessThanOrEqual(WINDOW);
          for (const [other, { slots = 0 }] of after)
            if (other !== id) expect(slots).toBeGreaterThanOrEqual(before.get(other)?.slots ?? 0);
          if (after.size === 0) continue;
          expect(slotsOf(ledger).reduce((sum, slots) => sum + slots, 0)).toBe(WINDOW);
        }
      }),
    );
  });

  it('gives a freed slot to the better level, whichever gateway freed it', () => {
    const ledger = new EngineLedger(ENGINE);
    const [a, b] = [gatewayId('a'), gatewayId('b')];
    ledger.claim(a, claimOf({ waiting: [0, 0, 9] }));
    ledger.claim(a, claimOf({ inFlight: 8, keeps: 8, waiting: [0, 0, 1] }));
    ledger.claim(b, claimOf({ waiting: [0, 2] }));
    expect(ledger.parts().get(a)).toMatchObject({ slots: 8, waitingLevel: 1 });
    ledger.claim(a, claimOf({ inFlight: 7, keeps: 7, waiting: [0, 0, 1] }));
    expect(ledger.parts().get(a)).toMatchObject({ slots: 7, waitingLevel: 1, inFlight: 0 });
    expect(ledger.parts().get(b)).toMatchObject({ slots: 1, inFlight: 7 });
  });

  it('counts calls in flight at once that it has not given slots for, as after it lost its memory', () => {
    const ledger = new EngineLedger(ENGINE);
    ledger.claim(gatewayId('a'), claimOf({ inFlight: 6, keeps: 8 }));
    expect(ledger.parts().get(gatewayId('a'))).toMatchObject({ slots: 8 });
    ledger.claim(gatewayId('b'), claimOf({ inFlight: 5, keeps: 5, waiting: [1] }));
    // 13 for a window of 8: nothing is given until calls end.
    expect(slotsOf(ledger)).toEqual([8, 5]);
    ledger.claim(gatewayId('a'), claimOf({ inFlight: 6, keeps: 6 }));
    expect(slotsOf(ledger)).toEqual([6, 5]);
  });
});
