import { z } from 'zod';
import { bearer, count, derived, ms, name, note, plainUrl } from './note.js';

export const ENGINE_KINDS = ['auto', 'vllm', 'sglang', 'trtllm', 'llamacpp', 'ollama', 'openai'] as const;

const hostName = z.string().regex(/^[\w.-]{1,253}$/, 'must be a host name without a port');

export const engine = z.strictObject({
  url: note(
    plainUrl.overwrite((url) =>
      url.replace(/\/+$/, '').replace(/\/v1(\/(chat|(chat\/)?completions|messages|models|responses))?$/, ''),
    ),
    'Base URL of the engine; a trailing `/v1` is dropped.',
    'required',
  ),
  id: derived(name, 'Name in metrics, headers and admin answers.', 'host:port of the URL'),
  kind: note(z.enum(ENGINE_KINDS).default('auto'), 'Kind of server; `auto` detects it.'),
  models: derived(z.array(z.string().min(1)).min(1), 'Models that the engine serves.', 'its /v1/models'),
  window: derived(count(1, 100_000), 'Most calls in flight.', 'from `admission.window`'),
  capacityTokens: derived(count(1, 1e12), 'KV cache capacity.', 'the engine’s report; unknown: no gate'),
  hostTokens: derived(
    count(0, 1e12),
    'Tokens that fit into the engine’s host memory; add `capacityTokens` if contexts move there and are not copied. 0: none.',
    'the engine’s report; unknown: none',
  ),
  hostTokensPerSecond: note(z.number().min(1).max(1e9).optional(), 'Tokens a second that come back from host memory.', {
    default: 'the engine’s report; unknown: learnt from calls',
  }),
  contextTokensMax: derived(count(1, 1e12), 'Longest prompt and answer together.', 'the engine’s report, or unchecked'),
  apiKey: note(bearer.optional(), 'Bearer token for the engine, instead of the client’s own.', { secret: true }),
  serverName: derived(hostName, 'Name in the engine’s TLS certificate.', 'the host of the URL'),
});

/** Shortest time between two refreshes, for any TTL. */
export const REFRESH_MS_MIN = 1000;

const ADDRESS = /^(\d+(\.\d+){3}(:\d+)?|\[[0-9a-f:.]+\](:\d+)?|[0-9a-f:]+)$/i;

const dns = z.strictObject({
  name: note(hostName, 'Full name to resolve.', 'required'),
  port: note(count(1, 65_535).optional(), 'Port of the engines, for `A` and `AAAA`: `SRV` records have their own.'),
  type: note(z.enum(['A', 'AAAA', 'SRV']).default('A'), 'Records, one engine each.', 'both families would count twice'),
  scheme: note(z.enum(['http', 'https']).default('http'), 'Protocol of the engines.'),
  refreshMs: note(ms(REFRESH_MS_MIN).default(10_000), 'Longest time between two lookups; a shorter TTL shortens it.'),
  servers: note(
    z.array(z.string().regex(ADDRESS, 'must be IP or IP:port')).default([]),
    'DNS servers to ask, as IP or IP:port; none: the system’s.',
  ),
});

/** Keys that the engines of a source have in common. Other keys are dropped. */
export const engineDefaults = z.object(engine.omit({ url: true, id: true }).shape);

const source = z.strictObject({
  dns,
  graceMs: note(ms(0).default(15_000), 'Time that an engine is missing before it drains.'),
  ...engineDefaults.shape,
  models: note(
    engineDefaults.shape.models,
    'Models that its engines serve. With it, calls wait while the source lists no engine.',
    { default: 'their /v1/models' },
  ),
});

export const discovery = note(z.array(source).default([]), 'DNS names of further engines, with defaults for these.');

export type SourceConfig = z.output<typeof source>;
export type DnsConfig = z.output<typeof dns>;

/** Name of a source in logs and metrics, such as `dns:vllm.example:8000`. Reloads identify a source by it. */
export const labelOf = ({ dns }: SourceConfig): string =>
  `dns:${dns.name}${dns.port === undefined ? '' : `:${dns.port}`}`;
