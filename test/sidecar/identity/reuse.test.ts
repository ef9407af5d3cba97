import { describe, expect, it } from 'vitest';
import { saysRetry } from '../../../sidecar/identity/claims.js';
import type { Activity } from '../../../sidecar/identity/identity.js';
import { Returning, fingerprintOf } from '../../../sidecar/identity/returning.js';
import { programId, tenantId } from '../../../src/index.js';
import { answer, createCaller, identityOf, said } from './caller.js';

const ask = said('user', 'Do it.');
const first = { body: { messages: [ask] }, headers: { 'x-session-id': 'conv_0' } };
const later = { ...first, body: { messages: [ask, said('assistant', 'Done.'), ask] } };
const IDLE: Activity = { activeCalls: 0, idleMs: 120_000 };

describe('an id that is used again', () => {
  function callerWith(activity: Activity | undefined, reuseMs = 120_000) {
    return createCaller({ reuseMs, activityOf: () => activity });
  }

  it('begins a new program when it was idle and a conversation begins anew', () => {
    const { identify } = callerWith(IDLE);
    const renews = [first, later, later, first, first, later, first].map((sent) => identify(sent).renews);
    expect(renews).toEqual([false, false, false, true, false, false, true]);
  });

  it.each<[string, Activity | undefined]>([
    ['has calls in flight', { activeCalls: 1, idleMs: 120_000 }],
    ['was used a moment ago', { activeCalls: 0, idleMs: 119_999 }],
    ['has no program any more', undefined],
  ])('goes on while it %s', (_why, activity) => {
    const { identify } = callerWith(activity);
    identify(later);
    expect(identify(first).renews).toBe(false);
  });

  it('goes on when its calls never had a history, or hold none of it', () => {
    const { identify } = callerWith(IDLE);
    for (let i = 0; i < 3; i++) expect(identify(first).renews).toBe(false);
    identify(later);
    const completion = { ...first, path: '/v1/completions', body: { prompt: 'Do it.' } };
    const turn = { ...first, path: '/v1/responses', body: { input: 'x', previous_response_id: 'r' } };
    for (const sent of [completion, turn]) expect(identify(sent).renews).toBe(false);
  });

  it('goes on for a retry, and where this is switched off', () => {
    const retry = { ...first, headers: { ...first.headers, 'x-stainless-retry-count': '1' } };
    const { identify } = callerWith(IDLE);
    identify(later);
    expect(identify(retry).renews).toBe(false);
    const off = callerWith(IDLE, 0);
    off.identify(later);
    expect(off.identify(first).renews).toBe(false);
  });
});

describe('a prompt_cache_key', () => {
  const keyed = (key: string, ...messages: ReturnType<typeof said>[]) => ({
    body: { prompt_cache_key: key, messages },
  });
  const LONG = 'An answer that is long enough to be known wherever it comes back, by itself.';

  function callerWith(activeCalls: number) {
    return createCaller({ activityOf: () => ({ activeCalls, idleMs: 0 }) });
  }

  it('names the program as long as its calls come one after another', () => {
    const { identify } = callerWith(0);
    for (const task of ['a', 'b']) {
      expect(identify(keyed('k', said('user', task)))).toMatchObject({ label: 'k', source: 'prompt_cache_key' });
    }
  });

  it('names it while a call that goes on from it is in flight with another', () => {
    const { call, identify } = callerWith(1);
    const begun = createCaller({ activityOf: () => undefined });
    expect(begun.identify(keyed('k', ask)).label).toBe('k');
    let active = 0;
    const busy = createCaller({ activityOf: () => ({ activeCalls: active, idleMs: 0 }) });
    busy.call(keyed('k', ask), answer(LONG));
    active = 1;
    expect(busy.identify(keyed('k', ask, said('assistant', LONG), ask)).label).toBe('k');
    expect(call(keyed('k', ask), answer(LONG)).source).toBe('none');
    expect(identify(keyed('k', ask, said('assistant', LONG), ask)).source).toBe('history');
  });

  it('of a UUID is a session until more calls are in flight than sub-agents are', () => {
    const key = '7f0c9a52-3d5e-4c3b-9c1e-0a1b2c3d4e5f';
    expect(callerWith(7).identify(keyed(key, ask)).label).toBe(key);
    expect(callerWith(8).identify(keyed(key, ask)).source).toBe('none');
  });

  it('stays the name where history is off', () => {
    const { identify } = createCaller({ sources: ['body'], activityOf: () => ({ activeCalls: 1, idleMs: 0 }) });
    expect(identify(keyed('k', ask))).toMatchObject({ label: 'k', leaf: undefined });
  });

  it('is not shared because of a retry', () => {
    const { identify } = callerWith(1);
    expect(identify({ ...keyed('k', ask), headers: { 'x-stainless-retry-count': '2' } }).label).toBe('k');
  });
});

const [ours, theirs] = [tenantId('ours'), tenantId('theirs')];
const identity = (program: string, source: string) => identityOf(programId(program), { source });

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
