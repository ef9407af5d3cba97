import { afterEach, beforeEach, describe, expect, it as base, vi } from 'vitest';
import { gatewayId, Participant } from '../../cluster/index.js';
import { MemoryStore } from '../../sim/virtual/memory-store.js';
import { identify } from '../../sidecar/cluster/ask.js';
import { realClock } from '../../sidecar/cluster/open.js';
import { engineId, modelId, programId, tenantId, type Event } from '../../src/index.js';
import { Desk } from '../support/core-desk.js';
import { arrived } from '../support/core-events.js';
import { identityOf } from '../sidecar/identity/caller.js';

const PROGRAM = programId('t:p');
const WINDOW = 8;
const LONG = 5000;

/** Rounds of claims and records are over. */
const settled = () => vi.advanceTimersByTimeAsync(100);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A gateway of a cluster: its scheduler, and its side of what is shared. */
class Node {
  readonly desk = new Desk();
  readonly heard: Event[] = [];
  readonly cluster: Participant;
  /** Whether the store answers in time. */
  isLate = false;

  constructor(store: MemoryStore, name: string) {
    this.cluster = new Participant({
      clock: realClock(),
      emit: (event) => {
        this.heard.push(event);
        this.tell(event);
      },
      views: () => this.desk.scheduler.views,
      programsMax: 100,
      changed: () => undefined,
    });
    const shared = store.join(gatewayId(name), this.cluster);
    const [take, claim] = [shared.take.bind(shared), shared.claim.bind(shared)];
    vi.spyOn(shared, 'take').mockImplementation(async (program) => (this.isLate ? undefined : take(program)));
    vi.spyOn(shared, 'claim').mockImplementation(async (claims) => (this.isLate ? [] : claim(claims)));
    this.cluster.shared = shared;
  }

  tell(event: Event): void {
    this.desk.tell(event);
    this.cluster.stepped();
  }

  async joined(engine: string): Promise<void> {
    const models = [modelId('m')];
    this.tell(this.cluster.announced({ type: 'engineJoined', engine: engineId(engine), models, windowMax: WINDOW }));
    await settled();
  }

  /** Runs one long call of the program, from its arrival to its end. Returns its engine. */
  async run(call: string): Promise<string | undefined> {
    const elsewhere = await this.cluster.take(PROGRAM, '');
    this.tell({ ...arrived(call, { program: PROGRAM, prompt: LONG }), ...(elsewhere && { elsewhere }) });
    // Another gateway may have the engine's slots, and gives some up.
    await settled();
    const engine = this.desk.dispatchOf(call)?.engine;
    this.desk.pass(1000);
    this.desk.finish(call, { prompt: LONG, output: 10 });
    this.cluster.ran(PROGRAM);
    await settled();
    return engine;
  }
}

/** A test with two gateways, before the same two engines. */
const it = base
  .extend('nodes', async () => {
    const store = new MemoryStore(100);
    const nodes = [new Node(store, 'a'), new Node(store, 'b')] as const;
    for (const node of nodes) for (const engine of ['E', 'F']) await node.joined(engine);
    return nodes;
  })
  .extend('a', ({ nodes }) => nodes[0])
  .extend('b', ({ nodes }) => nodes[1]);

describe('a gateway of a cluster', () => {
  it('gives an engine no call before it has slots, and all gateways together no more than the window', async ({
    a,
    b,
  }) => {
    for (let i = 0; i < 3 * WINDOW; i += 1) for (const node of [a, b]) node.tell(arrived(`${i}`));
    await settled();
    for (const engine of ['E', 'F'])
      expect(a.desk.engine(engine).inFlight + b.desk.engine(engine).inFlight).toBe(WINDOW);
    const node = new Node(new MemoryStore(1), 'c');
    node.tell(arrived('early'));
    node.isLate = true;
    await node.joined('E');
    node.tell(arrived('late'));
    expect(node.desk.engine('E').inFlight).toBe(0);
    // A claim without an answer is made again.
    node.isLate = false;
    await settled();
    expect(node.desk.engine('E').inFlight).toBe(1);
  });

  it('claims an engine anew that has gone and come back', async ({ a, b }) => {
    a.tell({ type: 'engineDrained', engine: engineId('E') });
    await settled();
    expect(b.desk.engine('E').window).toBe(WINDOW);
    await a.joined('E');
    for (let i = 0; i < 2; i += 1) a.tell(arrived(`${i}`));
    await settled();
    expect(a.desk.engine('E').inFlight + a.desk.engine('F').inFlight).toBe(2);
  });

  it('leaves its slots to the others when it ends', async ({ a, b }) => {
    expect(b.desk.engine('E').window).toBeLessThan(WINDOW);
    await a.cluster.close();
    await settled();
    expect(b.desk.engine('E').window).toBe(WINDOW);
  });

  it('runs a program where other gateways have run it, with its service', async ({ a, b }) => {
    const home = await a.run('1');
    expect(await b.run('2')).toBe(home);
    expect(a.heard).toContainEqual({ type: 'programMoved', program: PROGRAM });
    expect(await a.run('3')).toBe(home);
    expect(a.desk.program(PROGRAM)).toMatchObject({ callsTotal: 3, home });
    expect(a.desk.program(PROGRAM).serviceMs).toBeGreaterThanOrEqual(2000);
  });

  it('asks for a program until it is its own, and not for those that it has made', async ({ a, b }) => {
    await a.run('1');
    expect(a.cluster.owns(PROGRAM)).toBe(true);
    await b.run('2');
    expect([a.cluster.owns(PROGRAM), b.cluster.owns(PROGRAM)]).toEqual([false, false]);
    await b.run('3');
    expect(b.cluster.owns(PROGRAM)).toBe(true);
    expect(b.cluster.takes).toEqual({ new: 0, kept: 1, moved: 1, unanswered: 0 });
    await b.cluster.take(programId('t~made'), '', true);
    expect(b.cluster.takes).toMatchObject({ new: 0 });
    a.isLate = true;
    expect(await a.cluster.take(PROGRAM, '')).toBeUndefined();
    expect(a.cluster.owns(PROGRAM)).toBe(false);
  });

  it('asks once for a program that several calls wait for', async ({ a, b }) => {
    await a.run('1');
    await Promise.all([b.cluster.take(PROGRAM, ''), b.cluster.take(PROGRAM, '')]);
    expect(b.cluster.takes).toEqual({ new: 0, kept: 0, moved: 1, unanswered: 0 });
  });

  it('does not own a program that has moved while it asked for it', async ({ a }) => {
    const asking = a.cluster.take(PROGRAM, '');
    a.cluster.moved(PROGRAM);
    await asking;
    expect(a.cluster.owns(PROGRAM)).toBe(false);
  });

  it('tells the others a program’s home while its first call runs', async ({ a, b }) => {
    await a.cluster.take(PROGRAM, '');
    a.tell(arrived('1', { program: PROGRAM, prompt: LONG }));
    a.cluster.placed(PROGRAM);
    await settled();
    expect(await b.cluster.take(PROGRAM, '')).toMatchObject({ home: a.desk.dispatchOf('1')!.engine });
  });

  it('ends a program for all', async ({ a, b }) => {
    await a.run('1');
    b.cluster.ended(PROGRAM);
    await settled();
    expect(await b.cluster.take(PROGRAM, '')).toBeUndefined();
    expect(b.cluster.takes).toMatchObject({ new: 1 });
  });

  it('finds the program of a conversation by what another gateway has answered', async ({ a, b }) => {
    const tenant = tenantId('t');
    a.cluster.shared.remember(tenant, 'k', PROGRAM);
    const sought = { keys: ['unknown', 'k'], source: 'history' };
    const found = await identify(b.cluster, tenant, identityOf(programId('t~new'), { sought }));
    expect(found).toEqual(identityOf(PROGRAM, { source: 'history' }));
    const other = await identify(b.cluster, tenantId('other'), identityOf(programId('t~new'), { sought }));
    expect(other).toMatchObject({ program: 't~new', source: 'none' });
  });
});
