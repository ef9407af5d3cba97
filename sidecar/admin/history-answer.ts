import { z } from 'zod';
import { WAIT_CAUSES } from '../../src/index.js';
import { RANGES } from '../watch/totals.js';
import { say, seconds, share, time, whole } from './answer-parts.js';

const column = z.array(z.number().nullable());
const spreads = z.strictObject({
  count: z.array(whole),
  p50: z.array(seconds.nullable()),
  p99: z.array(seconds.nullable()),
});

export const history = z
  .strictObject({
    range: z.enum(RANGES),
    from: time,
    step_seconds: seconds,
    program_completion_seconds: spreads,
    queue_seconds: spreads,
    cached_share: z.array(share.nullable()),
    waiting: say(z.record(z.enum(WAIT_CAUSES), column), 'Mean number of waiting calls, by cause.'),
    in_flight: say(column, 'Mean, all engines together; so are the following.'),
    window: say(column, 'Null: not read, or an engine has no limit.'),
    working_set_tokens: column,
    gate_tokens: say(column, 'Null: not read, or the capacity of an engine is not known.'),
    marks: say(z.array(z.strictObject({ at: time, text: z.string() })), 'Starts, reloads, engines lost and back.'),
  })
  .meta({ id: 'History', description: 'Columns with an entry for each step since `from`. Null: nothing happened.' });
