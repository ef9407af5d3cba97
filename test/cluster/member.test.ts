import { expect, it } from 'vitest';
import { Member } from '../../cluster/index.js';
import { engineId, type EngineDemand } from '../../src/index.js';
import type { EnginePart } from '../../cluster/index.js';
import { claimOf } from '../support/shared-desk.js';

const ENGINE = engineId('e');
const demandOf = (waiting: readonly number[]): EngineDemand => claimOf(ENGINE, { window: 8, waiting });

it('a gateway claims an engine again when its waiting calls change, and only then', () => {
  let demand = demandOf([0, 1]);
  const member = new Member(() => [demand]);
  const claimed = () => {
    const { claims } = member.changes();
    member.settled(new Set(claims.map(({ engine }) => engine)));
    return claims.map(({ waiting }) => waiting);
  };
  expect(claimed()).toEqual([[0, 1]]);
  demand = demandOf([0, 1]);
  expect(claimed()).toEqual([]);
  demand = demandOf([1, 1]);
  expect(claimed()).toEqual([[1, 1]]);
  demand = demandOf([1]);
  expect(claimed()).toEqual([[1]]);
});

it('a gateway has one claim under way, and makes it anew if the store does not answer', () => {
  let demand = demandOf([1]);
  const member = new Member(() => [demand]);
  const claimed = () => member.changes().claims.map(({ waiting }) => waiting);
  expect(claimed()).toEqual([[1]]);
  demand = demandOf([2]);
  expect(claimed()).toEqual([]);
  member.settled(new Set([ENGINE]));
  expect(claimed()).toEqual([[2]]);
  member.settled(new Set());
  expect(claimed()).toEqual([[2]]);
});

it('a gateway keeps slots for its calls in flight, and of those that wait for none worse than the best elsewhere', () => {
  const member = new Member(() => [{ ...demandOf([1, 1, 4]), inFlight: 1 }]);
  const keeps = (part: Partial<EnginePart>) => {
    member.joined(ENGINE);
    member.received([{ ...demandOf([]), slots: 8, waitingGateways: 1, ...part }]);
    const { claims } = member.changes();
    member.settled(new Set([ENGINE]));
    return claims.map((claim) => claim.keeps);
  };
  expect(keeps({})).toEqual([8]);
  expect([0, 1, 2].map((waitingLevel) => keeps({ waitingLevel }))).toEqual([[2], [3], [7]]);
});

it('a gateway gives back slots that came since it last gave them back, however its last claim reads', () => {
  const member = new Member(() => [demandOf([])]);
  const keepsAfter = (part: Partial<EnginePart>) => {
    member.received([{ ...demandOf([]), slots: 2, waitingGateways: 1, ...part }]);
    const { claims } = member.changes();
    member.settled(new Set(claims.map(({ engine }) => engine)));
    return claims.map((claim) => claim.keeps);
  };
  expect(keepsAfter({ waitingLevel: 0 })).toEqual([0]);
  // The store has spread slots that nobody wanted, and now others want them.
  expect(keepsAfter({ waitingLevel: 0 })).toEqual([0]);
});
