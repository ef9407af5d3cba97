import { describe, expect, it } from 'vitest';
import { AgentTypes, type AgentType } from '../../../src/programs/agent-types.js';
import { tenantId, tokens } from '../../../src/index.js';

const TENANT = tenantId('t');
const family = (id: number, harness?: number) => ({
  id,
  tokens: tokens(100),
  ...(harness !== undefined && { harness }),
});

/** A program of the type ends after this service, and its context has grown from 1,000 tokens by 100 a call. */
function run({ index, growth }: AgentType, serviceMs: number): void {
  index.recordService(0, serviceMs);
  index.ended(serviceMs);
  for (let call = 0; call < 10; call += 1) {
    if (call > 0) growth.followed(1_000, call === 1);
    growth.answered(1_000, call === 0, call === 0 ? undefined : 100);
  }
}

/** Types of two harnesses: programs of harness 1 take a second each, those of harness 2 a thousand. */
function learnt(): AgentTypes {
  const types = new AgentTypes();
  for (let id = 0; id < 200; id += 1) {
    run(types.of(family(id, 1), TENANT), 1_000);
    run(types.of(family(1_000 + id, 2), TENANT), 1e6);
  }
  return types;
}

describe('agent types', () => {
  it('are one for equal instructions, and different ones for different tenants', () => {
    const types = new AgentTypes();
    expect(types.of(family(1), TENANT)).toBe(types.of(family(1, 7), TENANT));
    expect(types.of(family(1), TENANT)).not.toBe(types.of(family(1), tenantId('u')));
    expect(types.of(undefined, TENANT)).toBe(types.of(undefined, TENANT));
  });

  it('that are new rank as their harness, where each prompt has a text of its own', () => {
    const types = learnt();
    const [short, long, unknown] = [1, 2, undefined].map((harness) =>
      types.of(family(9_999 + (harness ?? 0), harness), TENANT),
    );
    expect(long!.index.msToEnd(100) / short!.index.msToEnd(100)).toBeGreaterThan(100);
    expect(unknown!.index.msToEnd(100)).toBe(types.all.index.msToEnd(100));
  });

  it('of one program do not say that it never ends, nor that it grows for ever', () => {
    const types = learnt();
    const before = types.of(family(5_000, 1), TENANT);
    const [ms, size] = [before.index.msToEnd(1e5), before.growth.expectedTokens(1_000, true)];
    const own = types.of(family(5_001, 1), TENANT);
    own.index.recordService(0, 1e5);
    for (let call = 0; call < 60; call += 1) {
      if (call > 0) own.growth.followed(1_000, call === 1);
      own.growth.answered(1_000, call === 0, call === 0 ? undefined : 100);
    }
    expect(own.index.msToEnd(1e5) / ms).toBeLessThan(1.1);
    expect(own.growth.expectedTokens(1_000, true) / size).toBeLessThan(1.3);
  });

  it('are told apart from their harness once two of their programs have ended', () => {
    const types = learnt();
    const own = types.of(family(6_000, 1), TENANT);
    run(own, 1e6);
    expect(own.index.msToEnd(10_000)).toBe(types.of(family(6_001, 1), TENANT).index.msToEnd(10_000));
    for (let program = 0; program < 40; program += 1) run(own, 1e6);
    expect(own.index.msToEnd(100) / types.of(family(6_002, 1), TENANT).index.msToEnd(100)).toBeGreaterThan(10);
  });
});
