import { z } from 'zod';
import { PASSES } from '../../plans/index.js';
import { millis, type Millis } from '../../src/index.js';
import { DAY_MS, count, fixed, ms, name, note, plainUrl, textOrNull } from './note.js';

/** The shorter sections of the configuration; see the opening words of schema.ts. */

export const batches = z.strictObject({
  folder: fixed(textOrNull, 'Folder for `/v1/files` and `/v1/batches` (BATCHES.md).'),
  inFlightMax: note(count(1, 100_000).default(64), 'Lines of batches under way at once; late ones have as many more.'),
  fileBytes: note(count(1024, 1e12).default(209_715_200), 'Largest uploaded file.', 'OpenAI’s limit, 200 MB'),
  lineBytes: note(count(1024, 1e8).default(1_048_576), 'Longest line of a batch’s file.'),
  linesMax: note(count(1, 1e6).default(50_000), 'Most lines of a batch.', 'OpenAI’s limit'),
  bytesMax: note(count(1024, 1e15).default(10_737_418_240), 'Most bytes of a tenant’s files; more are refused.'),
  filesMax: note(count(1, 1e6).default(1000), 'Files of one tenant.'),
  openMax: note(count(1, 10_000).default(50), 'Unfinished batches of one tenant.'),
  passes: note(
    z.array(z.enum(PASSES)).default([...PASSES]),
    '`merge` asks equal deterministic lines once, `order` puts lines that begin alike together.',
  ),
  keepMs: note(ms(60_000, 3650 * DAY_MS).default(30 * DAY_MS), 'Lifetime of files and ended batches.', 'as OpenAI’s'),
});

/** A name in `x-maitred-workflow`. */
const className = z.string().min(1).max(128);
const most = (max: number) => count(1, max).nullable();
/** The bounds of one program; null: without. */
const BOUND = { tokens: most(1e12), calls: most(1e9), engineSeconds: most(1e9), repeats: most(1e6) };
const boundsBy = (key: z.ZodString) => z.record(key, z.strictObject(BOUND).partial()).default({});

export const budget = z.strictObject({
  tokens: note(BOUND.tokens.default(null), 'Most prompt and output tokens of one program.'),
  calls: note(BOUND.calls.default(null), 'Most calls of one program.'),
  engineSeconds: note(BOUND.engineSeconds.default(null), 'Most seconds of engine time of one program.'),
  repeats: note(BOUND.repeats.default(null), 'Most answers in a row that ask for the same tool calls.'),
  warnAt: note(
    z.number().min(0.1).max(1).nullable().default(null),
    'Share of a bound from which on the model is told once, at the end of a request (OPERATIONS.md).',
  ),
  tenants: note(boundsBy(name), 'Bounds by tenant, as `{lab: {calls: null}}`; `x-maitred-budget` only lowers them.'),
  workflows: note(boundsBy(className), 'Lower bounds for an `x-maitred-workflow`, as `{crawl: {calls: 50}}`.'),
});

const waits = z.record(className, ms(1)).default({});

export const objectives = z.strictObject({
  workflows: note(waits, 'Longest wait of a call by its `x-maitred-workflow`, as `{rag: 5000}`: then it is overdue.'),
  tenants: note(waits, 'The same by tenant. The shortest of these and `starvation.waitMsMax` counts.'),
});

/** The longest wait of a class's calls, in milliseconds; undefined: no objective names it. */
export function objectiveOf(
  { workflows, tenants }: z.output<typeof objectives>,
  { workflow = '', tenant = '' }: { readonly workflow?: string | undefined; readonly tenant?: string | undefined },
): Millis | undefined {
  const own = (named: Readonly<Record<string, number>>, key: string) =>
    Object.hasOwn(named, key) ? (named[key] ?? Infinity) : Infinity;
  const waitMsMax = Math.min(own(workflows, workflow), own(tenants, tenant));
  return waitMsMax < Infinity ? millis(waitMsMax) : undefined;
}

export const health = z
  .strictObject({
    intervalMs: fixed(ms(10).default(2000), 'Interval of load reports and health probes of an engine.'),
    timeoutMs: fixed(ms(10).default(2000), 'Time for one probe.'),
    failuresMax: fixed(count(1, 1000).default(3), 'Failures in a row from which an engine is down.'),
    stuckMs: fixed(ms(10).default(30_000), 'Time without a token, requests waiting, none running: then it is down.'),
    backoffMs: fixed(ms(10).optional(), 'Wait before an engine that is down is probed; doubled if it fails again.', {
      default: '1000, at most `backoffMsMax`',
    }),
    backoffMsMax: fixed(ms(10).optional(), 'Longest such wait.', { default: '30000, at least `backoffMs`' }),
  })
  .transform((given) => {
    const backoffMs = given.backoffMs ?? Math.min(1000, given.backoffMsMax ?? Infinity);
    return { ...given, backoffMs, backoffMsMax: given.backoffMsMax ?? Math.max(30_000, backoffMs) };
  });

export const shadow = z.strictObject({
  enabled: fixed(z.boolean().default(true), 'Estimate the gateway’s gain (INSPECT.md).'),
  everyMs: fixed(ms(1000).default(60_000), 'Time between estimates; a sixth while too many programs go on.'),
});

/** Path of traces below an OTLP endpoint. Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request */
export const TRACES_PATH = '/v1/traces';

const otlp = z.strictObject({
  url: fixed(
    plainUrl
      .overwrite((url) => (new URL(url).pathname === '/' ? url.replace(/\/*$/, TRACES_PATH) : url))
      .nullable()
      .default(null),
    'OTLP collector over HTTP, such as `http://collector:4318`.',
    { default: 'null, or from OpenTelemetry’s own variables (METRICS.md#tracing)' },
  ),
  sampleShare: fixed(z.number().min(0).max(1).default(1), 'Share of programs to trace; a client decides for its own.'),
});

export const tracing = z.strictObject({ otlp: otlp.prefault({}) });
