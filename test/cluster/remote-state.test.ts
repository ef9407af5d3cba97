import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { gatewayId, RemoteState, StateHost, type EnginePart, type StoreRequest } from '../../cluster/index.js';
import { programId, tenantId } from '../../src/index.js';
import { ANSWER_MS, claimOf, Desk, recordOf } from '../support/shared-desk.js';

const PROGRAM = programId('t:p');
const TENANT = tenantId('t');

/** Two gateways whose messages travel until their process, or that of the store, stands still. */
class Scene {
  readonly host = new StateHost({ programsMax: 100, keysMax: 100 });
  isStanding = false;
  readonly #held: (() => void)[] = [];
  readonly a = this.#join('a');
  readonly b = this.#join('b');

  #join(name: string): Desk {
    return Desk.elsewhere(this.host, gatewayId(name), (deliver) => {
      if (this.isStanding) this.#held.push(deliver);
      else queueMicrotask(deliver);
    });
  }

  resume(): void {
    this.isStanding = false;
    for (const deliver of this.#held.splice(0)) deliver();
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** The answer after so long. */
async function after<T>(ms: number, answer: Promise<T>): Promise<T> {
  await vi.advanceTimersByTimeAsync(ms);
  return answer;
}

describe('state in another process', () => {
  it('counts the gateways that are there, and returns the slots and programs of one that ends without a word', async () => {
    const { a, b, host } = new Scene();
    await a.claim([claimOf('e', { window: 10, inFlight: 4 })]);
    await b.claim([claimOf('e', { window: 10, inFlight: 1 })]);
    await a.shared.take(PROGRAM);
    a.shared.put(PROGRAM, recordOf(1234));
    await a.settled();
    expect(b.shared.state).toMatchObject({ up: true, live: 2, gateways: ['a', 'b'], failures: 0 });
    expect(b.slots('e')).toBeLessThanOrEqual(6);
    host.leave(gatewayId('a'));
    await b.settled();
    expect(b.shared.state).toMatchObject({ live: 1, gateways: ['b'] });
    expect(b.slots('e')).toBe(10);
    expect(await b.shared.take(PROGRAM)).toEqual({ from: 'a', record: recordOf(1234) });
  });

  it('keeps no call waiting while that process stands still, and goes on where it was', async () => {
    const scene = new Scene();
    const { a } = scene;
    await a.claim([claimOf('e', { window: 10 })]);
    scene.isStanding = true;
    const claimed = a.claim([claimOf('e', { window: 10, inFlight: 3, keeps: 5 })]);
    expect(await after(ANSWER_MS, a.shared.take(PROGRAM))).toBeUndefined();
    a.shared.remember(TENANT, 'key', PROGRAM);
    expect(await after(ANSWER_MS, a.shared.find(TENANT, ['key']))).toBeUndefined();
    expect(a.shared.state).toMatchObject({ up: true, failures: 2 });
    expect(await after(ANSWER_MS, a.shared.take(PROGRAM))).toBeUndefined();
    expect(a.shared.state).toMatchObject({ up: false, live: 2, failures: 3 });
    // Nothing is asked any more, so nothing is waited for.
    expect(await a.shared.take(PROGRAM)).toBeUndefined();
    expect(a.changes).toBe(1);
    scene.resume();
    expect(await claimed).toMatchObject([{ engine: 'e', slots: 10 }]);
    expect(a.shared.state.up).toBe(true);
    expect(a.changes).toBe(2);
    expect(await a.shared.find(TENANT, ['key'])).toBe(PROGRAM);
  });

  it('believes the last word, though an answer and later parts arrive together', async () => {
    const desk = new Desk();
    const asked: StoreRequest[] = [];
    const state = new RemoteState((request) => asked.push(request), desk, ANSWER_MS);
    desk.shared = state;
    void desk.claim([claimOf('e')]);
    const partOf = (slots: number): EnginePart => ({ ...claimOf('e'), slots, waitingGateways: 0 });
    state.hear({ type: 'answer', id: asked[0]!.id, value: [partOf(0)] });
    state.hear({ type: 'parts', parts: [partOf(5)] });
    await desk.until(() => desk.slots('e') === 5);
    await new Promise((resolve) => setImmediate(resolve));
    expect(desk.slots('e')).toBe(5);
  });

  it('hears nothing of a gateway that has left', async () => {
    const { a, b } = new Scene();
    await a.shared.leave();
    a.shared.remember(TENANT, 'key', PROGRAM);
    await b.settled();
    expect(await b.shared.find(TENANT, ['key'])).toBeUndefined();
    expect(b.shared.state.gateways).toEqual(['b']);
  });
});
