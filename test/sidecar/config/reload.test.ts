import { describe, expect, it } from 'vitest';
import { keepRestartKeys } from '../../../sidecar/config/load.js';
import { configSchema } from '../../../sidecar/config/index.js';

describe('keepRestartKeys', () => {
  const current = configSchema.parse({ listen: { port: 1 }, embedded: 2 });

  it('keeps what needs a restart, and takes the rest', () => {
    const next = configSchema.parse({
      listen: { port: 9 },
      embedded: 2,
      policy: { name: 'pass-through' },
      log: { level: 'warn' },
    });
    const { config, waiting } = keepRestartKeys(current, next);
    expect(waiting).toEqual(['listen.port']);
    expect(config).toEqual({ ...next, listen: current.listen });
    expect(Object.isFrozen(config.listen)).toBe(true);
    expect(next.listen.port).toBe(9);
  });

  it('has nothing to keep where nothing changed', () => {
    expect(keepRestartKeys(current, configSchema.parse(current))).toEqual({ config: current, waiting: [] });
  });
});
