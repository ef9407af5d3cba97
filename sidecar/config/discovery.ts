import { z } from 'zod';
import { engine } from './engine.js';
import { DAY_MS, NONE, STARTING, count, ms, note } from './note.js';

/** Shortest time between two refreshes, for any TTL. */
export const REFRESH_MS_MIN = 1000;

const hostName = z.string().regex(/^[\w.-]{1,253}$/, { error: 'must be a host name without a port' });

const dns = z.strictObject({
  name: note(hostName, 'Full name to resolve.', 'required'),
  port: note(
    count(1, 65_535).optional(),
    'Port of the engines. Required for `A` and `AAAA`; `SRV` records have their own.',
    NONE,
  ),
  type: note(
    z.enum(['A', 'AAAA', 'SRV']).default('A'),
    'Records to ask for: one engine for each.',
    'both families together would count an engine twice',
  ),
  scheme: note(z.enum(['http', 'https']).default('http'), 'Protocol of the engines.', 'that of most engines'),
  refreshMs: note(
    ms(REFRESH_MS_MIN, DAY_MS).default(10_000),
    'Longest time between two lookups; a shorter TTL shortens it.',
    STARTING,
  ),
  servers: note(
    z
      .array(
        z
          .string()
          .regex(/^(\d+(\.\d+){3}(:\d+)?|\[[0-9a-f:.]+\](:\d+)?|[0-9a-f:]+)$/i, { error: 'must be IP or IP:port' }),
      )
      .default([]),
    'DNS servers to ask, as IP or IP:port; none: the system’s.',
    NONE,
  ),
});

/** Keys that the engines of a source have in common. Other keys are dropped. */
export const engineDefaults = z.object(engine.omit({ url: true, id: true }).shape);

const source = z.strictObject({
  dns,
  graceMs: note(
    ms(0, DAY_MS).default(15_000),
    'Time that an engine must be missing before it is drained.',
    'longer than one refresh',
  ),
  ...engineDefaults.shape,
  models: note(
    engineDefaults.shape.models,
    'Models that its engines serve. With it, calls wait while the source lists no engine.',
    NONE,
    { default: 'their /v1/models' },
  ),
});

/** Sources of engines that come and go. */
export const discovery = note(
  z.array(source).default([]),
  'Sources of further engines: DNS names, each with defaults for its engines.',
  NONE,
);

export type SourceConfig = z.output<typeof source>;
export type DnsConfig = z.output<typeof dns>;

/** Name of a source in logs and metrics, such as `dns:vllm.example:8000`. Reloads identify a source by it. */
export function labelOf({ dns }: SourceConfig): string {
  return `dns:${dns.name}${dns.port === undefined ? '' : `:${dns.port}`}`;
}
