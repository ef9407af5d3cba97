import { describe, expect, it } from 'vitest';
import { configure } from '../../processes/gateway.js';
import { configSchema } from '../../sidecar/config/index.js';
import { fileOf } from '../support/folder.js';

const engines = ['http://127.0.0.1:9'];

/** Paths of the values that differ, with both. */
function differences(one: unknown, other: unknown, path = ''): [path: string, one: unknown, other: unknown][] {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) {
    return Object.is(one, other) ? [] : [[path, one, other]];
  }
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  const at = (value: object, key: string) => (value as Record<string, unknown>)[key];
  return [...keys].flatMap((key) => differences(at(one, key), at(other, key), path === '' ? key : `${path}.${key}`));
}

describe('the configuration of a gateway at speed', () => {
  const real = configure({ policy: 'plas', engines, speed: 1 });

  it('is the default one in real time, but for its port', () => {
    const defaults = configSchema.parse({ engines: [{ url: engines[0] }] });
    expect(differences(defaults, real)).toEqual([['listen.port', 8080, 0]]);
  });

  it('has every time by which it decides divided by the speed, and nothing else changed', () => {
    const found = differences(real, configure({ policy: 'plas', engines, speed: 20 }));
    const times = `admission.halfLifeMs admission.reserveMs admission.turnMs balancer.spillMs health.intervalMs
      policy.firstQuantumMs policy.msPerOutputToken policy.msPerPromptToken starvation.floorMs starvation.waitMsMax
      timeouts.ghostMs timeouts.leaseMs timeouts.queueMs`;
    expect(found.map(([path]) => path).sort()).toEqual(times.split(/\s+/));
    for (const [, slow, quick] of found) expect(Number(slow) / Number(quick)).toBeCloseTo(20);
  });

  it('stays within what the gateway takes at any speed', () => {
    for (const speed of [0.1, 7, 1000]) {
      const { health, timeouts, policy, starvation, admission } = configure({ policy: 'pass-through', engines, speed });
      expect(configSchema.safeParse({ health, timeouts, policy, starvation, admission }).error).toBeUndefined();
    }
  });

  it('keeps what a file says, but for what a run needs of its gateway', () => {
    const auth = { keys: [{ sha256: 'a'.repeat(64), tenant: 'a' }] };
    const own = { listen: { host: '0.0.0.0', port: 80 }, admin: { port: 9999, token: 'secret-token' }, auth };
    const said = { admission: { gate: 0.5, halfLifeMs: 40_000 }, log: { level: 'silent' }, embedded: 3, ...own };
    const file = fileOf('maitred.yaml', JSON.stringify(said));
    const config = configure({ policy: 'pass-through', file, engines, speed: 10 });
    expect(config).toMatchObject({
      policy: { name: 'pass-through' },
      admission: { gate: 0.5, halfLifeMs: 4000 },
      engines: [{ url: engines[0] }],
      listen: { host: '127.0.0.1', port: 0 },
      admin: { port: null, token: null },
      auth: { keys: [] },
      log: { level: 'info' },
      embedded: 0,
    });
  });
});
