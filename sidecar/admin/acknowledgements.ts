import { z } from 'zod';
import { say, whole } from './answer-parts.js';

/* The short answers of the admin API: to what a request has done, to probes, and errors. */

export const demo = z.strictObject({ demo: z.literal('running') }).meta({ id: 'Demo' });
export const ended = z
  .strictObject({ ended: z.literal(true), id: z.string(), tenant: z.string() })
  .meta({ id: 'Ended' });
export const hinted = z
  .strictObject({
    hinted: z.literal(true),
    used: say(z.boolean(), 'Whether it has the rest of the program, and `policy.foresight` is `declared`.'),
    id: z.string(),
    tenant: z.string(),
  })
  .meta({ id: 'Hinted' });
export const removed = z.strictObject({ id: z.string(), removed: z.literal(true) }).meta({ id: 'Removed' });
export const everyEngine = z
  .strictObject({ engines: z.array(z.strictObject({ id: z.string(), status: whole, body: z.string() })) })
  .meta({ id: 'EveryEngine' });
export const alive = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Alive' });
export const version = z.strictObject({ version: z.string() }).meta({ id: 'Version' });
export const ready = z
  .strictObject({
    ready: z.boolean(),
    reason: z.enum(['draining', 'no_engine']).optional(),
    cluster: say(
      z.enum(['shared', 'alone', 'split']).optional(),
      'Absent: no state is shared. `alone`: its server is away; `split`: so it is, and others may go on with it.',
    ),
  })
  .meta({ id: 'Ready' });
export const error = z
  .looseObject({ error: z.looseObject({ message: z.string(), type: z.string(), code: z.string().nullable() }) })
  .meta({ id: 'Error' });
