import { expect, it } from 'vitest';
import { millis, type EngineId } from '../../../src/index.js';
import type { CallReport, CallSpec } from '../../../sidecar/calls/spec.js';
import { Completions } from '../../../sidecar/metrics/completions.js';
import { recoveryOf } from '../../../sidecar/watch/recovery.js';
import { Totals } from '../../../sidecar/watch/totals.js';

const ENGINE = 'a' as EngineId;
const SPEC = { identity: { program: 'default:p' } } as CallSpec;

function stage() {
  let nowMs = 0;
  const now = () => millis(nowMs);
  const known = { of: () => undefined, leaving: () => undefined };
  const totals = new Totals({
    completions: new Completions({ idle: () => [], known, now }),
    now,
    reading: () => ({}),
    troubleOf: () => undefined,
  });
  const sent = { queueMs: 0, outcome: 'completed', dispatch: { engine: ENGINE } } as CallReport;
  /** Attempts at one moment, the failed ones last. */
  const at = (seconds: number, answered: number, failed = 0) => {
    nowMs = 1000 * seconds;
    for (let each = 0; each < answered + failed; each += 1) totals.dispatched(SPEC, { engine: ENGINE });
    for (let each = 0; each < answered; each += 1) totals.ended({ spec: SPEC }, sent, now());
    for (let each = 0; each < failed; each += 1) totals.engineFailed(SPEC, ENGINE, 'answer', 'status 500');
    return recoveryOf(ENGINE, totals.read(now()));
  };
  return { at, totals, now };
}

it('needs as many answers as three failures were due in since they began, not in all that it answered before', () => {
  const { at } = stage();
  at(0, 3000);
  expect(at(60, 1, 19)).toEqual({ answered_since: 0, mended: false });
  // In the step of the last failure, too.
  expect(at(61, 3)).toEqual({ answered_since: 3, mended: false });
  expect(at(66, 1)).toEqual({ answered_since: 4, mended: true });
  // A later failure begins anew, and those of a minute before are others.
  expect(at(126, 0, 1)).toEqual({ answered_since: 0, mended: false });
  expect([at(127, 2), at(128, 1)].map(({ mended }) => mended)).toEqual([false, true]);
});

it('trusts one that goes on failing some calls only after many answers', () => {
  const { at } = stage();
  for (let seconds = 0; seconds < 60; seconds += 20) expect(at(seconds, 9, 1).mended).toBe(false);
  expect([at(61, 29), at(62, 1)].map(({ mended }) => mended)).toEqual([false, true]);
});

it('is that of all gateways together', () => {
  const [a, b] = [stage(), stage()];
  for (const each of [a, b]) each.at(60, 0, 5);
  a.at(70, 2);
  b.at(70, 2);
  const whole = (...others: (typeof a)[]) =>
    recoveryOf(
      ENGINE,
      a.totals.read(
        a.now(),
        '5m',
        others.map(({ totals, now }) => totals.read(now()).steps),
      ),
    );
  expect(whole()).toEqual({ answered_since: 2, mended: false });
  expect(whole(b)).toEqual({ answered_since: 4, mended: true });
  b.at(74, 0, 1);
  expect(whole(b)).toEqual({ answered_since: 2, mended: false });
});
