import { describe, expect, it } from 'vitest';
import { modelId, tenantId } from '../../../src/index.js';
import { Accounts } from '../../../src/programs/accounts.js';
import { coreConfig } from '../../support/core-config.js';

/** Two tenants of equal weight that have had this engine time, and the turns of their waiting calls. */
function shared(ownMs: number, otherMs: number) {
  const accounts = new Accounts(coreConfig({ policy: { tenants: 'weighted' } }));
  const turns = ['own', 'other'].map((tenant) =>
    accounts.turnOf({ model: modelId('m'), program: { tenant: tenantId(tenant) } }),
  );
  const [own, other] = turns as [(typeof turns)[0], (typeof turns)[0]];
  for (const turn of turns) turn.waits(1, false);
  accounts.at(0);
  for (const turn of turns) accounts.began(turn);
  for (const [turn, atMs] of [
    [own, ownMs],
    [other, otherMs],
  ] as const) {
    accounts.at(atMs);
    accounts.stopped(turn);
  }
  return { accounts, own, other };
}

describe('a tenant is behind', () => {
  it.each([
    [700, 1_000, false],
    [600, 1_000, true],
  ])('with less than 0.8 of its due share: %i ms of the other’s %i: %s', (ownMs, otherMs, isBehind) => {
    const { accounts, own, other } = shared(ownMs, otherMs);
    expect([accounts.isBehind(own), accounts.isBehind(other)]).toEqual([isBehind, false]);
  });
});
