import { totalmem } from 'node:os';
import { z } from 'zod';
import { cluster } from './cluster.js';
import { defaults, tenantId, type TenantId } from '../../src/index.js';
import { discovery, engine } from './engines.js';
import {
  DAY_MS,
  MAKE_HASH,
  MAKE_TOKEN,
  TOKEN_CHARS_MIN,
  bearer,
  count,
  derived,
  fixed,
  ms,
  name,
  note,
} from './note.js';
import { admission, balancer, policy, starvation } from './scheduling.js';
import { batches, budget, health, objectives, shadow, tracing } from './sections.js';

const { limits: shipped, timeouts: waits } = defaults;

/**
 * All keys of the configuration, with their ranges, defaults, meanings, and the sources of the defaults. A test
 * generates docs/CONFIG.md from this file and keeps it current. A name ends in its unit. Unknown keys are rejected.
 * Every number has a range, which also rejects NaN and infinities. If a default depends on another key, the object's
 * `transform` fills it in.
 */

export const IDENTITY_SOURCES = ['maitred', 'harness', 'body', 'baggage', 'traceparent', 'history'] as const;

const PATTERN = 'must be a path, with /* at its end for all below it';

/** A name or an address; whether it can be listened on shows at the start. */
const host = z
  .string()
  .regex(/^[\w.:%-]+$/, 'must be a host name or an IP address, without [ ], scheme or port')
  .default('127.0.0.1');

const listen = z.strictObject({
  host: fixed(host, 'Address to listen on.'),
  port: fixed(count(0, 65_535).default(8080), 'Port to listen on; 0 picks a free one.'),
});

const TOO_SHORT = `must have at least ${TOKEN_CHARS_MIN} characters: make one with \`${MAKE_TOKEN}\``;

const admin = z.strictObject({
  host: fixed(host, 'Address of the admin listener, if it has its own port.'),
  port: fixed(count(0, 65_535).nullable().default(null), 'Port of a listener for admin paths and metrics; null: none.'),
  token: note(
    bearer.min(TOKEN_CHARS_MIN, TOO_SHORT).nullable().default(null),
    'Bearer token for admin paths. Null: open on their own listener, and on loopback without API keys.',
    { secret: true },
  ),
});

const limits = z
  .strictObject({
    bodyBytes: note(count(1024, 1e10).default(33_554_432), 'Largest request body.', 'Anthropic’s own limit, 32 MB'),
    queuedBytes: note(count(1024, 1e13).optional(), 'Request bodies in memory, of all calls. A tenant may hold half.', {
      default: 'a quarter of the machine’s or container’s memory',
    }),
    inlineBytes: note(
      count(32_768, 1e10).default(262_144),
      'A separate thread parses a body with more new bytes than this.',
      'measured: lab/NOTEBOOK.md, “Large bodies”',
    ),
    beginningBytes: fixed(
      count(0, 1e10).default(33_554_432),
      'Memory for beginnings of large bodies, which are not parsed again; 0: none.',
      'measured: lab/NOTEBOOK.md, “What it costs”',
    ),
    bodyDepthMax: note(count(16, 3000).default(1000), 'Levels of nesting in a body above 32 KB.'),
    bodyNodesMax: note(count(1000, 1e9).default(250_000), 'Keys, objects and arrays in a request body above 32 KB.'),
    answerBytes: note(count(1024, 1e10).default(67_108_864), 'Largest answer without streaming.'),
    programsMax: derived(count(2, 1e7), 'Most programs kept.', `${shipped.programsMax}, at least twice \`queuedMax\``),
    queuedMax: derived(count(1, 1e6), 'Most waiting calls.', `${shipped.queuedMax}, at most half \`programsMax\``),
    queuedPerTenantMax: note(count(1, 1e6).optional(), 'Most waiting calls of one tenant.', {
      default: `${shipped.queuedPerTenantMax}, at most \`queuedMax\``,
    }),
    attemptsMax: note(
      count(1, 100).default(shipped.attemptsMax),
      'Attempts of a call on engines that fail it; refused connections do not count.',
    ),
    pastCalls: fixed(count(0, 1e7).default(20_000), 'Ended calls to remember for the page; 0: none.'),
    watchersMax: note(count(0, 10_000).default(32), 'Most open pages and other clients of `/stream`.'),
    enginesFailedMax: note(count(1, 100).default(shipped.enginesFailedMax), 'Most engines that may fail one call.'),
    clientRetries: note(
      count(0, 1e6).default(shipped.clientRetries),
      'Retries of a client: a call that would outwait them all is refused on arrival.',
      'the default of the OpenAI and Anthropic clients',
    ),
    responsesMax: fixed(count(1, 1e7).default(100_000), 'Ids of served responses to remember.'),
    conversationsMax: note(count(1, 1e7).default(100_000), 'Conversations to remember for history matching.'),
    tenantSeriesMax: note(count(1, 10_000).default(100), 'Tenants with metrics of their own; `(other)` has the rest.'),
    recordBytes: fixed(count(65_536, 1e10).default(33_554_432), 'Unwritten event log; recording stops above it.'),
  })
  .transform((given) => {
    const queuedMax = given.queuedMax ?? Math.min(shipped.queuedMax, Math.floor((given.programsMax ?? Infinity) / 2));
    const programsMax = given.programsMax ?? Math.max(shipped.programsMax, 2 * queuedMax);
    const queuedPerTenantMax = given.queuedPerTenantMax ?? Math.min(shipped.queuedPerTenantMax, queuedMax);
    // A container without a limit reports 0 or an absurd value.
    const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);
    const queuedBytes = given.queuedBytes ?? Math.floor(memoryBytes / 4);
    return { ...given, queuedBytes, programsMax, queuedMax, queuedPerTenantMax };
  });

const timeouts = z.strictObject({
  headersMs: note(ms(100).default(10_000), 'Time for a client to send its headers.'),
  bodyMs: note(ms(100).default(60_000), 'Time for a client to send its body.'),
  connectMs: fixed(ms(10).default(5000), 'Time to connect to an engine.'),
  firstByteMs: note(ms(100).default(600_000), 'From dispatch to the engine’s first byte.', 'as OpenAI’s clients'),
  idleMs: note(ms(100).default(120_000), 'Longest silence within an engine’s answer.'),
  queueMs: note(
    ms(100).default(waits.queueMs),
    'Longest wait in the queue, without streaming; at least max(`waitMsMax`, `reserveMs`) + `turnMs`.',
    'three tries of an OpenAI client',
  ),
  noEngineMs: note(ms(0).default(waits.noEngineMs), 'Longest wait while no engine for it is up.'),
  busyMs: note(ms(0).default(60_000), 'Time before an engine’s 429 or 503 goes to the client.'),
  ghostMs: note(ms(0).default(waits.ghostMs), 'Time to keep a place for a retry.', 'clients’ longest `Retry-After`'),
  commentMs: note(ms(100).default(10_000), 'Interval of SSE comments to queued streams.', 'below proxies’ timeouts'),
  drainMs: note(ms(0).default(600_000), 'Time for calls to finish after SIGTERM.'),
  leaseMs: note(ms(1000, 30 * DAY_MS).default(waits.leaseMs), 'Idle time after which a program is forgotten.'),
});

const identity = z.strictObject({
  sources: note(
    z.array(z.enum(IDENTITY_SOURCES)).default(['maitred', 'harness', 'body', 'baggage', 'history']),
    'Sources of a program’s id; the first match wins.',
    'most reliable first; a trace is often one call',
  ),
  reuseMs: note(ms(0).default(120_000), 'Idle time after which an id without history begins a new program; 0: never.'),
});

const passthrough = z.strictObject({
  paths: note(
    z.array(z.string().regex(/^\/v1\/(?:[^*?#%;\s]*\/)?(?:\*|[^*?#%;\s]+)$/, PATTERN)).default([]),
    'Further paths to pass through to one engine (OPERATIONS.md); `/v1/x/*` for all below.',
    'clients cannot change engines by default',
  ),
});

const hash = z.string().regex(/^[0-9a-f]{64}$/, `must be 64 hexadecimal digits, lower case: ${MAKE_HASH}`);

const key = z.strictObject(
  {
    sha256: note(hash, 'SHA-256 of the API key, in hex.', { source: 'required', secret: true }),
    tenant: note(name, 'Tenant of the calls with this key.', 'required'),
  },
  `must be a mapping with sha256, as ${MAKE_HASH} makes it, and tenant`,
);

const webHost = z.string().regex(/^[a-z0-9.-]+$/, 'must be a host name in lower case, without a port');

const auth = z.strictObject({
  hosts: note(
    z.array(webHost).default([]),
    'Names under which browsers, and admin requests without a token, may reach the gateway.',
    'a web page can make any other name resolve to it',
  ),
  keys: note(z.array(key).default([]), 'API keys; none: every call is accepted.'),
});

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

const log = z.strictObject({ level: note(z.enum(LOG_LEVELS).default('info'), 'Lowest level to write.') });

/** The keys alone, without consistency checks, for code that walks them. */
export const configKeys = z.strictObject({
  listen: listen.prefault({}),
  admin: admin.prefault({}),
  engines: note(z.array(engine).default([]), 'Engine replicas.'),
  discovery,
  embedded: fixed(count(0, 64).default(0), 'Stand-in engines to start with the gateway.'),
  policy: policy.prefault({}),
  starvation: starvation.prefault({}),
  objectives: objectives.prefault({}),
  admission: admission.prefault({}),
  balancer: balancer.prefault({}),
  limits: limits.prefault({}),
  budget: budget.prefault({}),
  timeouts: timeouts.prefault({}),
  health: health.prefault({}),
  batches: batches.prefault({}),
  cluster: cluster.prefault({}),
  identity: identity.prefault({}),
  passthrough: passthrough.prefault({}),
  auth: auth.prefault({}),
  log: log.prefault({}),
  tracing: tracing.prefault({}),
  shadow: shadow.prefault({}),
});

/** The effective configuration: complete, checked and frozen. */
export type Config = z.output<typeof configKeys>;
export type EngineConfig = z.output<typeof engine>;

export const hasNoEngine = ({ engines, embedded, discovery: sources }: Config): boolean =>
  engines.length + embedded + sources.length === 0;

/** Tenant of every call when no API keys are configured. */
export const DEFAULT_TENANT = tenantId('default');

/** The tenants that may call, once for each of their keys. */
export const tenantsOf = ({ auth }: Pick<Config, 'auth'>): TenantId[] =>
  auth.keys.length === 0 ? [DEFAULT_TENANT] : auth.keys.map(({ tenant }) => tenantId(tenant));
