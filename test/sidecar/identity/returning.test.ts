import { describe, expect, it } from 'vitest';
import { programId, tenantId } from '../../../src/index.js';
import { saysRetry } from '../../../sidecar/identity/claims.js';
import { Returning, fingerprintOf } from '../../../sidecar/identity/returning.js';
import type { Identity } from '../../../sidecar/identity/identity.js';

const [ours, theirs] = [tenantId('ours'), tenantId('theirs')];
const identity = (program: string, source: string): Identity => ({
  program: programId(program),
  label: program,
  thread: '',
  final: false,
  source,
  leaf: undefined,
  renews: false,
  sought: undefined,
});

describe('who asked before', () => {
  it('is known by the same request of the same tenant, until it has come back', () => {
    const returning = new Returning(() => 0);
    const asked = identity('p', 'none');
    returning.expect(ours, 'x', asked, 1e6);
    expect([returning.find(theirs, 'x'), returning.find(ours, 'y')]).toEqual([undefined, undefined]);
    expect(returning.find(ours, 'x')).toBe(asked);
    returning.came(ours, 'x', identity('q', 'x-maitred-program'));
    expect(returning.find(ours, 'x')).toBe(asked);
    returning.came(ours, 'x', asked);
    expect(returning.find(ours, 'x')).toBeUndefined();
  });

  it('is not remembered where the request names its program, or where places are not kept', () => {
    const returning = new Returning(() => 0);
    returning.expect(ours, 'x', identity('p', 'x-maitred-program'), 1e6);
    returning.expect(ours, 'y', identity('p', 'history'), 0);
    expect([returning.find(ours, 'x'), returning.find(ours, 'y')]).toEqual([undefined, undefined]);
  });
});

describe('the fingerprint of a body', () => {
  it('is equal for equal bodies, and tells apart those of another length, beginning or end', () => {
    for (const bytes of [10, 100_000]) {
      const body = Buffer.alloc(bytes, 'a');
      const changed = (at: number) => {
        const copy = Buffer.from(body);
        copy[at] = 98;
        return fingerprintOf({ raw: copy });
      };
      const own = fingerprintOf({ raw: body });
      expect(fingerprintOf({ raw: Buffer.from(body) })).toBe(own);
      for (const other of [fingerprintOf({ raw: body.subarray(1) }), changed(0), changed(bytes - 1)])
        expect(other).not.toBe(own);
    }
  });
});

it('reads the count of retries that official clients send', () => {
  const told = (value?: string) => saysRetry(value === undefined ? {} : { 'x-stainless-retry-count': value });
  expect([told(), told('0'), told('1'), told('2'), told('no number')]).toEqual([false, false, true, true, false]);
});
