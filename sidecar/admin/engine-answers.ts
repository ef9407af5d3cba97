import { z } from 'zod';
import { WAIT_CAUSES } from '../../src/index.js';
import { say, seconds, share, whole } from './answer-parts.js';

/* The answers of the admin API about engines and the calls that wait for them. */

export const engine = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    kind: z.string(),
    source: say(z.string().nullable(), '`config`, `admin`, or the source that found it; null: it is being removed.'),
    state: z.enum(['joining', 'up', 'probation', 'ejected', 'draining']),
    down_since: say(
      z.number().nullable(),
      'Unix time in seconds since which it is out of service; null: it is not, or that is not known.',
    ),
    down_reason: say(z.string().nullable(), 'The last error; null: none.'),
    probe_in_seconds: say(seconds.nullable(), 'Until it is asked again; null: it is in service, or drains.'),
    models: z.array(z.string()),
    window: say(z.number().nullable(), 'Most calls in flight; null: no limit, or not in service.'),
    in_flight: whole,
    working_set_tokens: say(z.number(), 'Tokens of running and resident contexts.'),
    idle_tokens: say(z.number(), 'Those of them of idle contexts, kept for a return.'),
    gate_tokens: say(z.number().nullable(), 'Most tokens of running contexts; null: no gate.'),
    rest_tokens: say(
      z.number().nullable(),
      'Most tokens of the working set, more than that with host memory; null: no gate.',
    ),
    capacity_tokens: say(z.number().nullable(), 'KV cache of the engine; null: unknown.'),
    host_tokens: say(whole, 'Host memory for what leaves the KV cache; 0: none.'),
    on_host_tokens: say(z.number(), 'Tokens of contexts that are there and not in the KV cache, estimated.'),
    cached_share: say(share.nullable(), 'Share of prompt tokens served from the cache, in the time of `/totals`.'),
    resting: say(z.boolean(), 'It reported no room, and gets no calls for a moment.'),
    engine_running: z.number().nullable(),
    engine_waiting: z.number().nullable(),
    kv_usage: z.number().nullable(),
    all_gateways: say(
      z
        .strictObject({
          window: z.number().nullable(),
          in_flight: whole,
          working_set_tokens: z.number(),
          others_waiting: say(whole, 'Other gateways with calls that wait for it.'),
        })
        .nullable(),
      'The same of all gateways together, as last heard; null: the gateway is in no cluster.',
    ),
  })
  .meta({ id: 'Engine' });

export const engineList = z.strictObject({ engines: z.array(engine) }).meta({ id: 'EngineList' });

export const queue = z
  .strictObject({
    waiting: whole,
    limit: whole,
    longest_wait_seconds: seconds,
    waiting_for: say(z.record(z.enum(WAIT_CAUSES), whole), 'Waiting calls by cause.'),
    levels: z.array(
      z.strictObject({
        level: whole,
        waiting: whole,
        up_to_seconds: say(
          seconds.nullable(),
          'Engine time of its programs so far, at most; null: without bound, or levels do not go by time.',
        ),
      }),
    ),
  })
  .meta({ id: 'Queue' });

export type Engine = z.infer<typeof engine>;
export type EngineList = z.infer<typeof engineList>;
export type Queue = z.infer<typeof queue>;
