import { describe, expect, it } from 'vitest';
import { partsOf, sideBySide, type Drawn } from '../../ui/call-parts.js';

const CALL: Drawn = {
  call: 'c',
  thread: 't',
  text: '',
  arrived_at: 100,
  duration_seconds: 10,
  hung_seconds: 0,
  service_seconds: 4,
  first_token_seconds: 7,
  failures: [],
  outcome: 'completed',
};
const failure = (began: number, failed: number) => ({ engine: 'e', message: 'x', began_at: began, failed_at: failed });
const parts = (given: Partial<Drawn>) => partsOf({ ...CALL, ...given });

describe('the parts of a call', () => {
  it('are its wait, its prefill and its decodes', () =>
    expect(parts({})).toEqual([
      ['queued', 100, 106],
      ['prefill', 106, 107],
      ['decode', 107, 110],
    ]));

  it('show each failed attempt when it took place, and the waits between them', () =>
    expect(parts({ failures: [failure(101, 102), failure(104, 105)] })).toEqual([
      ['queued', 100, 101],
      ['failed', 101, 102],
      ['queued', 102, 104],
      ['failed', 104, 105],
      ['queued', 105, 106],
      ['prefill', 106, 107],
      ['decode', 107, 110],
    ]));

  it('show a last attempt once, if it failed too', () =>
    expect(
      parts({ outcome: 'engine_error', first_token_seconds: null, failures: [failure(101, 102), failure(106, 110)] }),
    ).toEqual([
      ['queued', 100, 101],
      ['failed', 101, 102],
      ['queued', 102, 106],
      ['failed', 106, 110],
    ]));

  it('end in a failure where the engine was down', () =>
    expect(parts({ hung_seconds: 2 }).slice(-2)).toEqual([
      ['decode', 107, 108],
      ['failed', 108, 110],
    ]));

  it('of one that waits again after a failure go on to now', () =>
    expect(parts({ service_seconds: null, first_token_seconds: null, failures: [failure(101, 103)] })).toEqual([
      ['queued', 100, 101],
      ['failed', 101, 103],
      ['queued', 103, 110],
    ]));
});

it('calls of one thread that overlap are in lanes of their own', () => {
  const [a, b, c] = [100, 105, 110].map((at) => ({ ...CALL, arrived_at: at })) as [Drawn, Drawn, Drawn];
  expect(sideBySide([c, b, a])).toEqual([[a, c], [b]]);
});
