import { describe, expect, it } from 'vitest';
import { modelId, tenantId } from '../../../src/index.js';
import { Accounts } from '../../../src/programs/accounts.js';
import { coreConfig } from '../../support/core-config.js';

const turnOf = (accounts: Accounts, tenant: string) =>
  accounts.turnOf({ model: modelId('m'), program: { tenant: tenantId(tenant) } });

/** Two tenants of equal weight whose calls wait, and a third one without any; they have had this engine time. */
function shared(ownMs: number, otherMs: number, idleMs = 0) {
  const accounts = new Accounts(coreConfig({ policy: { tenants: 'weighted' } }));
  const [own, other, idle] = [turnOf(accounts, 'own'), turnOf(accounts, 'other'), turnOf(accounts, 'idle')];
  for (const turn of [own, other]) turn.waits(1, false);
  accounts.at(0);
  for (const turn of [own, other, idle]) accounts.runs(turn, 1);
  for (const [atMs, turn] of [[ownMs, own] as const, [otherMs, other] as const, [idleMs, idle] as const].sort(
    ([a], [b]) => a - b,
  )) {
    accounts.at(atMs);
    accounts.runs(turn, -1);
  }
  return { accounts, own, other };
}

describe('a tenant is behind', () => {
  it.each([
    [700, 1_000, 0, false],
    [600, 1_000, 0, true],
    [700, 1_000, 1_000, false],
  ])(
    'with less than 0.8 of its due share: %i ms of the other’s %i, an idle one had %i: %s',
    (ownMs, otherMs, idleMs, isBehind) => {
      const { accounts, own, other } = shared(ownMs, otherMs, idleMs);
      expect([accounts.isBehind(own), accounts.isBehind(other)]).toEqual([isBehind, false]);
    },
  );
});

it('a tenant whose call runs does not starve, however long another of its calls has waited', () => {
  const accounts = new Accounts(coreConfig({ policy: { tenants: 'weighted' }, starvation: { waitMsMax: 1_000 } }));
  const [own, other] = [turnOf(accounts, 'own'), turnOf(accounts, 'other')];
  accounts.at(0);
  accounts.runs(own, 1);
  for (const turn of [own, other]) turn.waits(1, turn === own);
  accounts.at(5_000);
  expect(accounts.mayPrecede(own, other)).toBe(false);
  accounts.runs(own, -1);
  accounts.at(5_999);
  expect(accounts.mayPrecede(own, other)).toBe(false);
  accounts.at(6_000);
  expect(accounts.mayPrecede(own, other)).toBe(true);
});
