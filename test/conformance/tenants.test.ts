import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TENANTS_NAMES } from '../../src/index.js';
import { tenantPolicyOf } from '../../src/policies/by-name.js';
import { BURST, type Claim } from '../../src/policies/tenants.js';

const urgency = fc.double({ min: 0, max: 1e6, noNaN: true });
const claim: fc.Arbitrary<Claim> = fc.record({ urgency, meanUrgency: urgency, load: urgency });

describe.each(TENANTS_NAMES.filter((name) => name !== 'none'))('the division %s', (name) => {
  const policy = tenantPolicyOf(name)!;
  const factor = (each: Claim) => policy.factor(each);

  it('is what its name says, and takes no more from others than a burst', () => {
    expect(policy.name).toBe(name);
    fc.assert(fc.property(claim, (each) => factor(each) >= 1 && factor(each) <= 1 + BURST));
  });

  it('never gives less for more urgency', () => {
    const more = fc.tuple(claim, urgency);
    fc.assert(fc.property(more, ([each, add]) => factor({ ...each, urgency: each.urgency + add }) >= factor(each)));
  });

  it('does not depend on the unit of urgency', () => {
    const scaled = ({ urgency: own, meanUrgency, load }: Claim) => ({
      urgency: 2 * own,
      meanUrgency: 2 * meanUrgency,
      load,
    });
    fc.assert(fc.property(claim, (each) => factor(scaled(each)) === factor(each)));
  });

  it('goes by weights alone at twice the capacity', () => {
    fc.assert(fc.property(claim, (each) => factor({ ...each, load: 2 + each.load }) === 1));
  });
});

it('follows urgency with afs, and not with weighted', () => {
  const urgent = { urgency: 3, meanUrgency: 2, load: 0.5 };
  expect(tenantPolicyOf('afs')!.factor(urgent)).toBe(1.5);
  expect(tenantPolicyOf('afs')!.factor({ ...urgent, load: 1.5 })).toBe(1.25);
  expect(tenantPolicyOf('weighted')!.factor(urgent)).toBe(1);
});
