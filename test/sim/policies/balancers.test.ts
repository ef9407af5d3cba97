import { describe, expect, it } from 'vitest';
import { prefixAware, roundRobin } from '../../../sim/policies/balancers.js';
import { callId, engineId, programId, type CallId, type Candidate, type Placeable } from '../../../src/index.js';

const engine = (index: number, loadTokens = 0, inFlight = 0): Candidate => ({
  id: engineId(`E${index}`),
  index,
  inFlight,
  loadTokens,
  capacityTokens: undefined,
});

/** A call with these hashes of its prompt for a name. */
const call = (prefix: readonly number[]): Placeable => ({
  id: callId(prefix.join()),
  program: { id: programId('p') },
  promptTokens: 1,
});
const prefixOf = (id: CallId): number[] => (id === '' ? [] : id.split(',').map(Number));

describe('round-robin', () => {
  it('takes the engines in turn, passing over those that are not open', () => {
    const balancer = roundRobin();
    const [a, b, c] = [engine(0), engine(1), engine(5)];
    const taken = [[a, b, c], [a, b, c], [a, b, c], [a, b, c], [a, c], [a, b], [b], [b], [a, c]].map(
      (open) => balancer.choose(call([]), open).index,
    );
    expect(taken).toEqual([0, 1, 5, 0, 5, 0, 1, 1, 5]);
  });
});

describe('prefix-aware', () => {
  const [a, b] = [engine(0, 100), engine(1, 5)];
  const blocks = (n: number, from = 0) => Array.from({ length: n }, (_, index) => from + index);

  it('goes where the longest prefix was sent, else to the least loaded', () => {
    const balancer = prefixAware(prefixOf);
    balancer.dispatched?.(call(blocks(10)), a);
    balancer.dispatched?.(call(blocks(6)), b);
    expect(balancer.place(call(blocks(10)), undefined, [a, b])).toBe(a);
    expect(balancer.place(call(blocks(10, 500)), undefined, [a, b])).toBeUndefined();
    expect(balancer.choose(call(blocks(10, 500)), [a, b])).toBe(b);
  });

  it('counts leading blocks only, and wants at least half of the prompt', () => {
    const balancer = prefixAware(prefixOf);
    balancer.dispatched?.(call(blocks(5)), a);
    expect(balancer.place(call([...blocks(5), ...blocks(5, 100)]), undefined, [a, b])).toBe(a);
    expect(balancer.place(call([...blocks(5), ...blocks(6, 100)]), undefined, [a, b])).toBeUndefined();
    expect(balancer.place(call([99, ...blocks(5)]), undefined, [a, b])).toBeUndefined();
    expect(balancer.place(call([]), undefined, [a, b])).toBeUndefined();
  });

  it('gives up on the prefix while engines are out of balance: by more than 16 calls and half as many again', () => {
    const balancer = prefixAware(prefixOf);
    balancer.dispatched?.(call(blocks(5)), a);
    const place = (inFlightA: number, inFlightB: number) =>
      balancer.place(call(blocks(5)), undefined, [engine(0, 0, inFlightA), engine(1, 0, inFlightB)])?.index;
    expect([place(16, 0), place(50, 34), place(60, 40)]).toEqual([0, 0, 0]);
    expect([place(17, 0), place(61, 40)]).toEqual([undefined, undefined]);
  });
});
