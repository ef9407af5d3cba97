import { z } from 'zod';
import { say, whole } from './answer-parts.js';

export const clusterState = z
  .strictObject({
    pool: z.string(),
    standing: say(
      z.enum(['shared', 'alone', 'split']),
      '`alone`: the server is away; `split`: so it is, and others may go on with it.',
    ),
    standing_seconds: say(z.number().min(0), 'Time since that changed.'),
    live: say(whole, 'Live gateways, this one included, as last heard.'),
    gateways: say(z.array(z.string()), 'Their names, as last heard.'),
    failures: say(whole, 'Operations of the server that failed or were late, since the start.'),
    last_failure: z.string().nullable(),
  })
  .meta({ id: 'ClusterState' });
