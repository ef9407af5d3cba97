import { z } from 'zod';

/**
 * Every key of the configuration, with its unit, default and source. docs/CONFIG.md is held to this file by a test.
 * Unknown keys are refused; every number is checked for range, which refuses NaN and infinities too.
 */

const ms = (min: number, max: number) => z.number().min(min).max(max);
const count = (min: number, max: number) => z.int().min(min).max(max);
const DAY_MS = 86_400_000;

export const ENGINE_KINDS = ['auto', 'vllm', 'sglang', 'trtllm', 'llamacpp', 'ollama', 'openai'] as const;
export const POLICIES = ['plas', 'fcfs', 'fcfs-window', 'mlfq-call', 'las-decayed'] as const;
export const BALANCERS = ['program-affinity', 'round-robin', 'least-loaded', 'sticky', 'prefix-aware'] as const;
export const IDENTITY_SOURCES = ['maitred', 'harness', 'body', 'baggage', 'traceparent', 'history'] as const;

const listen = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  port: count(0, 65_535).default(8080).describe('Port to listen on; 0 picks a free one.'),
});

const admin = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Address of the admin listener, when it has its own port.'),
  port: count(0, 65_535)
    .nullable()
    .default(null)
    .describe('Port of a listener of its own for admin paths and metrics; null: they share the main listener.'),
  token: z
    .string()
    .min(8)
    .nullable()
    .default(null)
    .describe(
      'Bearer token that admin paths demand. Null: open on a listener of their own or on a loopback listener without API keys, else refused.',
    ),
});

const engine = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe('Base URL of the engine, without /v1.'),
  id: z
    .string()
    .regex(/^[\w.:-]{1,128}$/)
    .optional()
    .describe('Name in metrics, headers and admin answers; absent: host:port of the URL.'),
  kind: z.enum(ENGINE_KINDS).default('auto').describe('What server it is; auto asks the server.'),
  models: z.array(z.string().min(1)).min(1).optional().describe('Models it serves; absent: what its /v1/models says.'),
  window: count(1, 100_000).optional().describe('Most calls in flight; absent: what the engine reports, else adaptive.'),
  capacityTokens: count(1, 1e12).optional().describe('KV cache capacity in tokens; absent: what the engine reports.'),
  apiKey: z.string().min(1).optional().describe('Sent as Bearer token instead of the client’s own.'),
});

const policy = z.strictObject({
  name: z.enum(POLICIES).default('plas').describe('Which call runs next.'),
  levels: count(1, 32).default(8).describe('Number of queues, K.'),
  firstQuantumMs: ms(1, DAY_MS).default(2000).describe('Attained service that ends the first queue’s range.'),
  quantumRatio: z.number().min(1.1).max(100).default(2).describe('Each queue’s upper bound over the one before it.'),
  service: z.enum(['time', 'tokens']).default('time').describe('Meter of attained service: engine time, or weighted tokens.'),
  msPerPromptToken: z.number().min(0).max(1e4).default(0.1).describe('With service tokens: weight of an uncached prompt token.'),
  msPerOutputToken: z.number().min(0).max(1e4).default(20).describe('With service tokens: weight of an output token.'),
});

const starvation = z.strictObject({
  beta: z.number().min(0.1).max(1e6).default(8).describe('Waiting over service at which a call is promoted.'),
  floorMs: ms(1, DAY_MS).default(2000).describe('Least service the ratio is taken against.'),
  waitMsMax: ms(1, DAY_MS).default(300_000).describe('Waiting since the program’s last promotion that promotes it whatever the ratio.'),
});

const admission = z.strictObject({
  window: z
    .union([z.literal('auto'), z.literal('adaptive'), count(1, 100_000)])
    .default('auto')
    .describe('Calls in flight per engine: auto takes the engine’s own limit where known, else adapts; a number fixes it.'),
  windowInitial: count(1, 100_000).default(16).describe('Where an adaptive window starts.'),
  windowMin: count(1, 100_000).default(2).describe('Least adaptive window.'),
  windowMax: count(1, 100_000).default(1024).describe('Greatest adaptive window.'),
  gate: z.number().min(0).max(10).default(0.9).describe('Share of an engine’s KV capacity the working set may take; 0: no gate.'),
  halfLifeMs: ms(1, DAY_MS).default(20_000).describe('Half-life of an idle program’s residency.'),
  outputReserveTokens: count(0, 1e6).default(256).describe('Output tokens set aside for a call whose length is unknown.'),
  reserveMs: ms(0, DAY_MS).default(30_000).describe('Wait after which nothing behind a call may take the room it needs.'),
});

const balancer = z.strictObject({
  name: z.enum(BALANCERS).default('program-affinity').describe('Where a call runs.'),
  thresholdTokens: count(0, 1e9).default(2048).describe('Longest prompt that is spread instead of sent home.'),
  adaptThreshold: z.boolean().default(true).describe('Move the threshold by measured prefix hits.'),
  spillMs: ms(0, DAY_MS).default(10_000).describe('Wait after which a call may leave its engine for an idle one.'),
});

const limits = z.strictObject({
  bodyBytes: count(1024, 1e10).default(33_554_432).describe('Largest request body.'),
  answerBytes: count(1024, 1e10).default(67_108_864).describe('Largest non-streaming answer taken from an engine.'),
  headerBytes: count(1024, 1_048_576).default(32_768).describe('Largest request header block.'),
  programsMax: count(1, 1e7).default(100_000).describe('Rows of the process table.'),
  queuedMax: count(1, 1e6).default(10_000).describe('Calls waiting, in all.'),
  queuedPerTenantMax: count(1, 1e6).default(5000).describe('Calls waiting, of one tenant.'),
  attemptsMax: count(1, 100).default(3).describe('Times a call is given to an engine that breaks.'),
  responsesMax: count(1, 1e7).default(100_000).describe('Ids of served responses remembered.'),
  conversationsMax: count(1, 1e7).default(100_000).describe('Answered conversations remembered for history matching.'),
});

const timeouts = z.strictObject({
  headersMs: ms(100, DAY_MS).default(10_000).describe('For a client to send its headers.'),
  bodyMs: ms(100, DAY_MS).default(60_000).describe('For a client to send its body.'),
  connectMs: ms(10, DAY_MS).default(5000).describe('To connect to an engine.'),
  firstByteMs: ms(100, DAY_MS).default(600_000).describe('From dispatch to the engine’s first byte.'),
  idleMs: ms(100, DAY_MS).default(120_000).describe('Silence inside an engine’s answer.'),
  queueMs: ms(100, DAY_MS).default(600_000).describe('In the queue.'),
  commentMs: ms(100, DAY_MS).default(10_000).describe('Between SSE comments to a queued streaming call.'),
  drainMs: ms(0, DAY_MS).default(600_000).describe('For running calls to finish after SIGTERM.'),
  leaseMs: ms(1000, 30 * DAY_MS).default(1_800_000).describe('Idle time after which a program is forgotten.'),
});

const health = z.strictObject({
  intervalMs: ms(10, DAY_MS).default(2000).describe('Between load reports and health probes of an engine.'),
  timeoutMs: ms(10, DAY_MS).default(2000).describe('For one probe.'),
  failuresMax: count(1, 1000).default(3).describe('Failures in a row that eject an engine.'),
  backoffMs: ms(10, DAY_MS).default(1000).describe('First wait before an ejected engine is probed; doubles.'),
  backoffMsMax: ms(10, DAY_MS).default(30_000).describe('Longest wait between such probes.'),
});

const identity = z.strictObject({
  sources: z
    .array(z.enum(IDENTITY_SOURCES))
    .default(['maitred', 'harness', 'body', 'baggage', 'history'])
    .describe('Where a program’s id is looked for, first match wins.'),
});

const auth = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe('SHA-256 of the API key, in hex.'),
        tenant: z
          .string()
          .regex(/^[\w.:-]{1,128}$/)
          .describe('Tenant of the calls that carry it.'),
      }),
    )
    .default([])
    .describe('API keys; none: every call is accepted, of one tenant.'),
});

const log = z.strictObject({
  level: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info').describe('Least level written.'),
});

export const configSchema = z.strictObject({
  listen: listen.prefault({}),
  admin: admin.prefault({}),
  engines: z.array(engine).default([]).describe('Engine replicas.'),
  embedded: count(0, 64).default(0).describe('Stand-in engines to start along with the gateway.'),
  policy: policy.prefault({}),
  starvation: starvation.prefault({}),
  admission: admission.prefault({}),
  balancer: balancer.prefault({}),
  limits: limits.prefault({}),
  timeouts: timeouts.prefault({}),
  health: health.prefault({}),
  identity: identity.prefault({}),
  auth: auth.prefault({}),
  log: log.prefault({}),
});

/** The effective configuration: whole, checked and frozen. */
export type Config = z.output<typeof configSchema>;
export type EngineConfig = Config['engines'][number];
