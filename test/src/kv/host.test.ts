import { describe, expect, it } from 'vitest';
import { callId, engineId } from '../../../src/index.js';
import { Desk } from '../../support/core-desk.js';
import { started, type EngineFacts } from '../../support/core-events.js';
import type { CoreChanges } from '../../support/core-config.js';

/** The present content of engine A, of 100,000 tokens in the KV cache. Claims stay in full. */
class Host {
  readonly desk: Desk;
  #calls = 0;

  constructor(engine: EngineFacts = {}, admission: CoreChanges['admission'] = {}) {
    this.desk = new Desk({
      policy: { msPerPromptToken: 100 },
      admission: {
        gate: 1,
        hostGate: 1,
        outputReserveTokens: 0,
        forecast: 'none',
        reserveMs: 10_000_000,
        ...admission,
      },
    });
    this.desk.join('A', { window: 300, capacity: 100_000, ...engine });
  }

  /** Programs with a context of 10,000 tokens each, idle after their second call. */
  settle(...programs: string[]): this {
    for (const program of programs) for (const turn of [1, 2]) this.call(program, turn === 1 ? 0 : 10_000);
    return this;
  }

  /** A call that comes and goes. @param tookMs time to its first token */
  call(program: string, cached: number, tookMs = 0): void {
    const call = `${program}-${this.#calls++}`;
    this.desk.arrive(call, { program, prompt: 10_000 });
    this.desk.pass(tookMs);
    if (tookMs > 0) this.desk.tell(started(call));
    this.desk.finish(call, { prompt: 10_000, output: 0, cached });
  }

  /** Whether another call of the program runs at once. */
  runs(program: string, prompt = 10_000): boolean {
    const call = `${program}-next`;
    this.desk.arrive(call, { program, prompt });
    return this.desk.dispatchOf(call) !== undefined;
  }

  get onHostTokens(): number {
    return this.desk.engine('A').onHostTokens;
  }
}

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `p${from + n}`);

describe('contexts that the KV cache loses', () => {
  it('are on the host, those used longest ago first, and come back with their calls', () => {
    const host = new Host({ host: 300_000 }).settle(...names(0, 14));
    expect(host.onHostTokens).toBe(40_000);
    const { desk } = host;
    expect(['p0', 'p3', 'p4'].map((id) => desk.program(id).onHostTokens)).toEqual([10_000, 10_000, 0]);
    host.settle('p0');
    expect(desk.program('p0').onHostTokens).toBe(0);
    expect(desk.program('p4').onHostTokens).toBe(10_000);
    expect(host.onHostTokens).toBe(40_000);
  });

  it('are gone once the host is full: it has copies of what is in the KV cache as well', () => {
    expect(new Host({ host: 150_000 }).settle(...names(0, 40)).onHostTokens).toBe(50_000);
  });

  it.each([0, 99_000, 100_000, -1, NaN, -Infinity])('are gone at once with a host of %s tokens', (host) => {
    expect(new Host({ host }).settle(...names(0, 40)).onHostTokens).toBe(0);
  });

  it('stay there when the engine refuses a call that needs them', () => {
    const host = new Host({ host: 300_000 }).settle(...names(0, 12));
    expect(host.runs('p0')).toBe(true);
    expect(host.desk.program('p0').onHostTokens).toBe(0);
    host.desk.fail('p0-next', 'refused');
    expect(host.desk.program('p0').onHostTokens).toBe(10_000);
  });

  it('are lost with their engine', () => {
    const host = new Host({ host: 300_000 }).settle(...names(0, 14));
    host.desk.tell({ type: 'engineLost', engine: engineId('A') });
    expect(host.onHostTokens).toBe(0);
  });
});

describe('the gate of an engine with a host', () => {
  /** Newcomers that run beside ten idle contexts, which fill the KV cache, and one call in flight. */
  function newcomers(engine: EngineFacts, admission: CoreChanges['admission'] = {}, waits = false, prefillMs = 0) {
    const host = new Host(engine, admission).settle(...names(0, 9));
    host.call('p9', 0, prefillMs);
    host.call('p9', 10_000);
    host.runs('p9');
    if (waits) expect(host.runs('p8', 95_000)).toBe(false);
    return names(20, 60).filter((name) => host.runs(name)).length;
  }

  it('lets contexts rest there, and bounds what runs by the KV cache', () => {
    expect(newcomers({ host: 300_000 })).toBe(9);
    expect(newcomers({ host: 150_000 })).toBe(5);
  });

  it('counts no host that is small, or not to be counted, and a part of others by its share', () => {
    expect(newcomers({})).toBe(0);
    expect(newcomers({ host: 100_000 })).toBe(0);
    expect(newcomers({ host: 300_000 }, { hostGate: 0 })).toBe(0);
    expect(newcomers({ host: 300_000 }, { hostGate: 0.4 })).toBe(2);
  });

  it('counts no host that gives contexts back later than they are computed', () => {
    const slow = { host: 300_000, hostSpeed: 10_000 };
    expect(newcomers(slow)).toBe(9);
    expect(newcomers(slow, {}, false, 2_000)).toBe(9);
    expect(newcomers(slow, {}, false, 500)).toBe(0);
  });

  it('lets no newcomer displace what rests while a call waits to return', () => {
    expect(newcomers({ host: 300_000 }, {}, true)).toBe(0);
  });

  it('says so to who waits', () => {
    const host = new Host({ host: 150_000 }, { hostGate: 0.9 }).settle(...names(0, 14));
    host.runs('p13');
    expect(host.runs('new')).toBe(false);
    const view = host.desk.scheduler.views.call(callId('new-next'));
    expect(view?.waiting?.nearest).toMatchObject({ cause: 'kv', needs: 10_000, limit: 135_000 });
  });
});
