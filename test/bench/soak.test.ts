import { describe, expect, it } from 'vitest';
import { fateOf } from '../../bench/soak/agents.js';
import { judge, notBack, type Sample } from '../../bench/soak/samples.js';
import { readOptions } from '../../bench/soak/program.js';

describe('a call', () => {
  it.each([
    ['completed', '', 5, 'whole'],
    ['completed', '', 4, 'lost'],
    ['http_429', 'status 429: ', 0, 'told'],
    ['http_5xx', 'status 502: no engine', 0, 'told'],
    ['http_5xx', 'status 502: ', 0, 'lost'],
    ['broken_stream', 'an error event: {}', 3, 'told'],
    ['wrong_content', 'not an event stream', 0, 'lost'],
    ['broken_stream', '', 3, 'lost'],
    ['timeout', '', 3, 'lost'],
  ] as const)('that ends with %s (%s) and %i tokens of five is %s', (outcome, detail, outputTokens, fate) => {
    expect(fateOf({ outcome, detail, outputTokens }, 5)).toBe(fate);
  });
});

/** A sample every minute, all of it this value. */
const samples = (count: number, valueAt: (minute: number) => number): Sample[] =>
  Array.from({ length: count }, (_, minutes) => {
    const read = (_: object, key: string | symbol) => (key === 'minutes' ? minutes : valueAt(minutes));
    return new Proxy({}, { get: read }) as Sample;
  });

describe('what is flat', () => {
  const flatness = (valueAt: (minute: number) => number) => judge(samples(40, valueAt)).map(({ flat }) => flat);

  it('stays as it was, or falls, whatever single samples do', () => {
    expect(flatness((minute) => (minute % 9 === 0 ? 5000 : 100))).not.toContain(false);
    expect(flatness((minute) => 1000 - 10 * minute)).not.toContain(false);
  });

  it('does not grow', () => {
    expect(flatness((minute) => 1000 * 1.05 ** minute)).not.toContain(true);
    const [memory] = judge(samples(40, (minute) => 100 + 2 * minute));
    expect(memory).toMatchObject({ measure: 'rssMb', flat: false });
    expect(memory?.slopePerHour).toBeCloseTo(120);
  });

  it('is not what was not measured', () => {
    expect(flatness(() => NaN)).not.toContain(true);
  });

  it('comes back to what it was', () => {
    const [idle, same, more] = [5, 5, 8].map((value) => samples(1, () => value)[0]!);
    expect(notBack(idle!, same!)).toEqual([]);
    expect(notBack(idle!, more!)).toContain('handles');
    expect(notBack(idle!, samples(1, () => NaN)[0]!)).toContain('calls');
  });
});

describe('a soak', () => {
  it('warms up for a fifth of its time, at most ten minutes', () => {
    expect(readOptions([])).toMatchObject({ minutes: 60, streams: 2000, warmUp: 10 });
    expect(readOptions(['--minutes', '20'])).toMatchObject({ warmUp: 4 });
  });
});
