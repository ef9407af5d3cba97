import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { describe, expect, onTestFinished } from 'vitest';
import { engineId } from '../../../src/index.js';
import { FakeEngine, hang } from '../../support/fake-engine.js';
import { engineConfig, FAILURES_MAX, fakeEngine, FleetHarness, INTERVAL, it, TIMEOUT, types } from './fleet-harness.js';
import { until } from './manual-timers.js';

const code = (name: string) => expect.objectContaining({ code: name }) as unknown;

describe('drain and remove', () => {
  it('drains: no new calls, no probes, still listed', ({ harness }) => {
    harness.fleet.drain(engineId('e'));
    harness.fleet.drain(engineId('e'));
    expect(harness.engine('e').state).toBe('draining');
    expect(harness.take()).toEqual([{ type: 'engineDrained', engine: 'e' }]);
    expect(harness.timers.pending).toEqual([]);
    harness.call('e', 'unreached', FAILURES_MAX);
    expect(harness.engine('e').state).toBe('draining');
    expect(harness.fleet.serving('m')).toHaveLength(1);
  });

  it('drains one that is down too, so that no call waits for it', ({ ejected: { harness } }) => {
    harness.fleet.drain(engineId('e'));
    expect(harness.take()).toEqual([{ type: 'engineDrained', engine: 'e' }]);
    expect(harness.timers.pending).toEqual([]);
  });

  it('forgets a removed engine at once when no call runs there', async ({ fake, harness }) => {
    harness.membership.remove(engineId('e'));
    expect(harness.take()).toEqual([{ type: 'engineDrained', engine: 'e' }]);
    expect(harness.fleet.list()).toEqual([]);
    expect(harness.timers.pending).toEqual([]);
    await until(() => fake.sockets === 0);
  });

  it('forgets a removed engine after its last call', ({ harness }) => {
    harness.inFlight.set('e', 2);
    harness.membership.remove(engineId('e'));
    expect(harness.engine('e').state).toBe('draining');
    expect(harness.fleet.serving('m')).toEqual([]);
    harness.inFlight.set('e', 1);
    harness.timers.advance(INTERVAL);
    expect(harness.fleet.list()).toHaveLength(1);
    harness.inFlight.set('e', 0);
    harness.timers.advance(INTERVAL);
    expect(harness.fleet.list()).toEqual([]);
    expect(harness.timers.pending).toEqual([]);
    expect(types(harness.take())).toEqual(['engineDrained']);
  });

  it('refuses a second engine of an id in service, and takes a draining one back', async ({ fake, harness }) => {
    const config = engineConfig({ url: fake.url, id: 'e', window: 5 });
    expect(() => harness.membership.add(config)).toThrow(code('engine_exists'));
    harness.inFlight.set('e', 1);
    harness.membership.remove(engineId('e'));
    harness.take();
    expect(harness.membership.add(config)).toBe(harness.engine('e'));
    await until(() => harness.engine('e').state === 'up');
    harness.inFlight.set('e', 0);
    harness.timers.advance(INTERVAL);
    await harness.idle();
    expect(harness.engine('e').state).toBe('up');
    expect(harness.take()[0]).toMatchObject({ type: 'engineJoined', windowMax: 5 });
  });
});

describe('reconcile', () => {
  it('adds, keeps and removes', async () => {
    const [a, b, c] = [await fakeEngine(), await fakeEngine(), await fakeEngine()];
    const [first, second, third] = [a, b, c].map((fake, i) => engineConfig({ url: fake.url, id: `e${i}` }));
    const harness = new FleetHarness(first!, second!);
    await harness.idle(2);
    harness.take();
    const kept = harness.engine('e1');
    harness.configure([{ ...second! }, third!]);
    await harness.idle(2);
    expect(harness.fleet.list().map(({ id }) => id)).toEqual(['e1', 'e2']);
    expect(harness.engine('e1')).toBe(kept);
    expect(types(harness.take())).toEqual(['engineDrained', 'engineJoined', 'engineReported']);
  });

  it('applies a changed configuration in place', async ({ fake, harness }) => {
    const engine = harness.engine('e');
    harness.configure([engineConfig({ url: fake.url, id: 'e', window: 9, models: ['x'], apiKey: 'k' })]);
    await harness.idle();
    expect(harness.engine('e')).toBe(engine);
    const joined = { type: 'engineJoined', engine: 'e', capacityTokens: 1000 };
    expect(harness.take()[0]).toEqual({ ...joined, models: ['x'], windowMax: 9 });
    expect(fake.requests.at(-1)).toContain('Bearer k');
    harness.configure([engineConfig({ url: fake.url, id: 'e' })]);
    await harness.idle();
    expect(harness.take()[0]).toEqual({ ...joined, models: ['m'] });
    harness.configure([engineConfig({ url: fake.url, id: 'e', kind: 'sglang' })]);
    await harness.idle();
    expect(harness.engine('e').adapter.kind).toBe('sglang');
  });

  it('replaces an engine that moved, whose running calls finish where they are', async ({ fake, harness }) => {
    const moved = await fakeEngine();
    const old = harness.engine('e');
    let finish = () => {};
    fake.routes.set('/v1/slow', (response) => {
      response.write('first ');
      finish = () => response.end('last');
    });
    const call = await old.pool.request({ method: 'GET', path: '/v1/slow' });
    harness.configure([engineConfig({ url: moved.url, id: 'e' })]);
    expect(harness.take()).toEqual([{ type: 'engineDrained', engine: 'e' }]);
    await harness.idle();
    expect(harness.engine('e').url.href).toBe(`${moved.url}/`);
    expect(types(harness.take())).toEqual(['engineJoined', 'engineReported']);
    finish();
    expect(await call.body.text()).toBe('first last');
    expect(old.pool.closed).toBe(true);
    await until(() => fake.sockets === 0);
  });

  it('asks for the certificate of another name over new connections', async () => {
    const names: string[] = [];
    const server = createServer({ SNICallback: (name, done) => done(null, void names.push(name)) });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const harness = new FleetHarness(engineConfig({ url, id: 'e', serverName: 'a.example' }));
    await harness.idle();
    harness.configure([engineConfig({ url, id: 'e', serverName: 'b.example' })]);
    await harness.idle();
    const { pool } = harness.engine('e');
    await pool.request({ method: 'GET', path: '/' }).catch(() => undefined);
    expect(new Set(names)).toEqual(new Set(['a.example', 'b.example']));
    expect(names.at(-1)).toBe('b.example');
  });

  it('leaves an engine drained that an operator drained', async ({ fake, harness }) => {
    harness.fleet.drain(engineId('e'));
    harness.configure([engineConfig({ url: fake.url, id: 'e' })]);
    expect(harness.engine('e').state).toBe('draining');
    harness.configure([engineConfig({ url: fake.url, id: 'e', window: 2 })]);
    expect(harness.engine('e').state).toBe('draining');
    harness.configure([engineConfig({ url: (await fakeEngine()).url, id: 'e' })]);
    expect(harness.engine('e').state).toBe('draining');
    expect(types(harness.take())).toEqual(['engineDrained']);
    expect(harness.timers.pending.filter((ms) => ms !== TIMEOUT)).toEqual([]);
  });
});

describe('close', () => {
  it('leaves no timer and no socket, whatever is under way', async ({ fake, harness }) => {
    const hanging = await FakeEngine.start({});
    hanging.all = hang;
    harness.membership.add(engineConfig({ url: hanging.url, id: 'hanging' }));
    fake.routes.set('/v1/slow', hang);
    const call = harness.engine('e').pool.request({ method: 'GET', path: '/v1/slow' });
    const failed = expect(call).rejects.toThrow();
    const moved = await fakeEngine();
    moved.all = hang;
    const other = harness.membership.add(engineConfig({ url: moved.url, id: 'moved' }));
    const failedToo = expect(other.pool.request({ method: 'GET', path: '/v1/slow' })).rejects.toThrow();
    await until(() => moved.requests.includes('GET /v1/slow'));
    harness.configure(
      harness.fleet.list().map(({ id, config }) => (id === other.id ? { ...config, url: fake.url } : config)),
    );
    await until(() => hanging.requests.length > 0 && fake.requests.includes('GET /v1/slow'));
    harness.take();
    await harness.fleet.close();
    await failed;
    await failedToo;
    expect(harness.timers.pending).toEqual([]);
    expect(harness.take()).toEqual([]);
    await until(() => fake.sockets + hanging.sockets + moved.sockets === 0);
    await hanging.close();
  });
});
