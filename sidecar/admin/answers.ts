import { z } from 'zod';
import { TENANTS_NAMES, WAIT_CAUSES } from '../../src/index.js';
import { say, seconds, share, time, whole } from './answer-parts.js';
import { clusterState } from './cluster-answer.js';
import type { history } from './history-answer.js';
import { shadow } from './shadow-answer.js';

export * from './acknowledgements.js';
export * from './engine-answers.js';
export * from './history-answer.js';

/**
 * The answers of the admin API. `openapi.ts` makes docs/openapi.yaml of them; a test holds real answers against them.
 * Within a version of the API, fields are only added.
 */
export const API_VERSION = 1;

const programFields = {
  id: say(z.string(), 'The client’s id. A leading `~` marks a generated one.'),
  tenant: z.string(),
  key: say(z.string(), 'The scheduler’s own id, unique among tenants; every path takes it in place of the id.'),
  state: say(z.enum(['waiting', 'running', 'idle']), '`waiting`: has active calls, and none of them runs.'),
  level: say(whole, 'Queue that its next call would enter; 0 goes first.'),
  attained_service_seconds: seconds,
  waiting_seconds: say(seconds, 'Queued time of all its calls.'),
  longest_wait_seconds: seconds,
  current_wait_seconds: say(seconds, 'Queued time of the call that waits longest now; 0: none waits.'),
  current_wait_cause: say(z.enum(WAIT_CAUSES).nullable(), 'What that call waits for; null: none waits.'),
  model: say(z.string().nullable(), 'That of its last call; null: not known here.'),
  identified_by: say(z.string().nullable(), 'The source that named it.'),
  agent_type: say(
    z.string().nullable(),
    'The workflow that its calls name, or else a hash of the instructions and tools with which it began.',
  ),
  engine: say(z.string().nullable(), 'Its home, or else the engine of a running call.'),
  engines: z.array(z.string()),
  active_calls: whole,
  calls: whole,
  promotions: whole,
  context_tokens: whole,
  on_host_tokens: say(whole, 'Those in its home’s host memory that have left the KV cache, estimated.'),
  prompt_tokens: whole,
  cached_tokens: whole,
  output_tokens: whole,
  age_seconds: seconds,
  idle_seconds: seconds,
};

export const program = z.strictObject(programFields).meta({ id: 'Program' });

const waitingCall = z
  .strictObject({ call: z.string(), program: say(z.string(), 'Its key.'), waiting_seconds: seconds })
  .meta({ id: 'WaitingCall' });

const obstacleFields = {
  cause: z.enum(WAIT_CAUSES),
  engine: z.string().nullable(),
  needs: say(z.number().nullable(), 'Calls for `window` and `probation`, tokens for `kv`.'),
  free: say(z.number().nullable(), 'Below 0: more is in use than the limit.'),
  limit: z.number().nullable(),
  behind: say(waitingCall.nullable(), 'With `turn`: the call that comes first.'),
  ends_in_seconds: say(seconds.nullable(), 'When time alone ends the cause.'),
};
const obstacle = z
  .strictObject(obstacleFields)
  .meta({ id: 'Obstacle', description: 'Why one engine does not run it.' });
const waitingFor = z
  .strictObject({
    ...obstacleFields,
    ahead: say(whole, 'Waiting calls that this engine would run first.'),
    oldest_ahead: waitingCall.nullable(),
    expected_seconds: say(
      seconds.nullable(),
      'Until it runs, at the pace at which its model’s last calls ended; null: not known, as without a backlog.',
    ),
  })
  .meta({ id: 'WaitingFor', description: 'Why a call waits, at the engine that comes nearest to running it.' });

const activeCall = z
  .strictObject({
    call: z.string(),
    state: z.enum(['waiting', 'running']),
    level: whole,
    model: z.string(),
    engine: z.string().nullable(),
    waiting_seconds: seconds,
    service_seconds: seconds,
    arrived_at: time,
    first_token_at: say(z.number().nullable(), 'Unix time in seconds; null: none yet, or the answer is no stream.'),
    waiting_for: say(waitingFor.nullable(), 'Null: it does not wait.'),
    text: say(z.string(), 'Why it waits, or why it runs where it runs.'),
  })
  .meta({ id: 'ActiveCall' });

export const programDetail = z
  .strictObject({
    ...programFields,
    forecast: z
      .strictObject({
        source: say(
          z.enum(['none', 'learnt', 'declared']),
          'Who foresees its rest: nobody, its agent type, its client.',
        ),
        used: say(z.boolean(), 'Whether the policy ranks by it.'),
        remaining_seconds: say(seconds.nullable(), 'Engine time to come; null: unknown.'),
      })
      .meta({ id: 'Forecast' }),
    threads: z.array(
      z.strictObject({
        thread: say(z.string(), 'The sub-agent’s id; empty for the root.'),
        calls: whole,
        active: say(z.array(activeCall), 'Of all its threads together, the oldest 100.'),
      }),
    ),
  })
  .meta({ id: 'ProgramDetail' });

const dispatch = z
  .strictObject({
    engine: z.string(),
    placement: z.string(),
    reason: z.string(),
    level: whole,
    queue_seconds: seconds,
  })
  .meta({ id: 'Dispatch', description: 'Where a call was sent, and why.' });

export const explanation = z
  .strictObject({
    text: say(z.string(), 'In words, a paragraph for each active call.'),
    program: program.nullable(),
    calls: z.array(
      z.strictObject({
        call: z.string(),
        program: z.string(),
        thread: z.string(),
        state: z.enum(['waiting', 'running']),
        text: z.string(),
        level: whole,
        attained_service_seconds: seconds,
        waiting_seconds: seconds,
        promoted: z.boolean(),
        overdue: z.boolean(),
        engine: z.string().nullable(),
        waiting_for: waitingFor.nullable(),
        engines: say(z.array(obstacle), 'Why each engine that may run it does not.'),
        promoted_in_seconds: seconds.nullable(),
        overdue_in_seconds: seconds.nullable(),
        refused_in_seconds: seconds.nullable(),
        dispatch: dispatch.nullable(),
      }),
    ),
    last_call: dispatch.extend({ call: z.string() }).nullable(),
  })
  .meta({ id: 'Explanation' });

export const identitySources = z
  .strictObject({ calls: whole, sources: z.array(z.strictObject({ source: z.string(), calls: whole })) })
  .meta({ id: 'IdentitySources' });

export const programPage = z
  .strictObject({
    programs: z.array(program),
    total: say(whole, 'Programs that match, on all pages.'),
    limit: whole,
    offset: whole,
  })
  .meta({ id: 'ProgramPage' });

const endedProgram = z
  .strictObject({
    id: programFields.id,
    key: programFields.key,
    model: programFields.model,
    identified_by: programFields.identified_by,
    agent_type: programFields.agent_type,
    cause: say(
      z.enum(['ended', 'expired', 'evicted']),
      '`ended`: announced. `expired`: idle for its lease. `evicted`: idle, and the table needed the row.',
    ),
    ended_at: say(time, 'When it left the table.'),
    duration_seconds: say(seconds, 'First arrival to last completion.'),
    queue_seconds: say(seconds, 'Queued time of all its calls.'),
    service_seconds: seconds,
    calls: whole,
    engine: say(z.string().nullable(), 'Where its last call ran.'),
  })
  .meta({ id: 'EndedProgram' });

export const endedPrograms = z
  .strictObject({ programs: say(z.array(endedProgram), 'The last 500, the last to end first.') })
  .meta({ id: 'EndedPrograms' });

const pastCall = z
  .strictObject({
    call: z.string(),
    thread: z.string(),
    model: z.string(),
    outcome: z.enum(['completed', 'client_error', 'engine_error', 'cancelled', 'timed_out', 'drained', 'refused']),
    status: say(whole, 'HTTP status; 499: the client had left.'),
    code: say(z.string().nullable(), 'Error code of the gateway; null: none.'),
    arrived_at: time,
    duration_seconds: say(seconds, 'Arrival to end.'),
    queue_seconds: say(seconds, 'Queued, all attempts together, without `inherited_seconds`.'),
    inherited_seconds: say(seconds, 'Queued time of earlier attempts of the client, whose place it took over.'),
    first_token_seconds: say(seconds.nullable(), 'Arrival to the first event of a stream.'),
    service_seconds: say(seconds.nullable(), 'Last dispatch to end; null: never dispatched.'),
    attempts: whole,
    engine: z.string().nullable(),
    level: whole.nullable(),
    reason: z.enum(['direct', 'queued', 'promoted', 'retried']).nullable(),
    placement: z.enum(['home', 'bound', 'spread', 'spilled']).nullable(),
    prompt_tokens: whole.nullable(),
    cached_tokens: whole.nullable(),
    output_tokens: whole.nullable(),
  })
  .meta({ id: 'PastCall', description: 'A call that has ended. Engine, level, reason: those of its last dispatch.' });

export const pastCalls = z
  .strictObject({ calls: say(z.array(pastCall), 'The latest, oldest first.') })
  .meta({ id: 'PastCalls' });

export const tenantList = z
  .strictObject({
    division: say(
      z.enum(TENANTS_NAMES),
      '`policy.tenants`: how engine time is divided. With `none` there are no tenants here.',
    ),
    tenants: z.array(
      z.strictObject({
        tenant: z.string(),
        weight: z.number(),
        waiting: whole,
        in_flight: whole,
        attained_share: say(share, 'Of the engine time of about the last minute.'),
        due_share: say(share.nullable(), 'Due among the tenants that have calls; null: it has none.'),
      }),
    ),
  })
  .meta({ id: 'TenantList' });

const spread = z.strictObject({
  count: whole,
  mean: seconds.nullable(),
  p50: seconds.nullable(),
  p99: seconds.nullable(),
});

export const totals = z
  .strictObject({
    window_seconds: seconds,
    program_completion_seconds: say(
      spread,
      'First arrival to last completion of programs that left the table, or were idle for a minute.',
    ),
    queue_seconds: say(spread, 'Queued time of calls that ended.'),
    cached_share: share.nullable(),
    output_tokens: whole,
    promoted_calls: say(whole, 'Calls that ran because they had waited too long.'),
    shadow: say(shadow.nullable(), 'Null: none yet, or `shadow.enabled` is false.'),
  })
  .meta({ id: 'Totals' });

const batch = z
  .strictObject({
    id: z.string(),
    tenant: z.string(),
    lines: z.strictObject({ total: whole, completed: whole, failed: whole }),
    in_flight: say(whole, 'Lines that wait in the queue or run.'),
    ready: say(whole, 'Lines that have all answers that they need.'),
    rest_seconds: say(seconds.nullable(), 'Until its end at the pace so far; null: no line has ended yet.'),
    late: say(z.boolean(), 'Whether its lines are calls like all others, because its window would end too early.'),
    expires_at: say(whole, 'Unix time in seconds.'),
  })
  .meta({ id: 'Batch' });

export const gatewayState = z
  .strictObject({
    api: z.literal(API_VERSION),
    instance: say(z.string(), 'Changes with every start of the gateway.'),
    started_at: time,
    policy: z.string(),
    draining: z.boolean(),
    demo: say(z.enum(['idle', 'running']).nullable(), 'Null: there is no demo fleet to send.'),
    demo_programs: say(
      z.strictObject({ ended: whole, total: whole }).nullable(),
      'Programs of the demo fleet under way; null: none is.',
    ),
    estimates: say(z.boolean(), 'Whether it estimates its gain over `pass-through`.'),
    cluster: say(clusterState.nullable(), 'Null: no state is shared.'),
    batches: say(z.array(batch), 'Batches under way on this gateway, the oldest first, at most 20.'),
  })
  .meta({ id: 'GatewayState' });

export type IdentitySources = z.infer<typeof identitySources>;
export type Batch = z.infer<typeof batch>;
export type Program = z.infer<typeof program>;
export type ProgramDetail = z.infer<typeof programDetail>;
export type ProgramPage = z.infer<typeof programPage>;
export type ActiveCall = z.infer<typeof activeCall>;
export type EndedPrograms = z.infer<typeof endedPrograms>;
export type PastCall = z.infer<typeof pastCall>;
export type PastCallList = z.infer<typeof pastCalls>;
export type TenantList = z.infer<typeof tenantList>;
export type TotalsAnswer = z.infer<typeof totals>;
export type History = z.infer<typeof history>;
export type ShadowAnswer = z.infer<typeof shadow>;
export type GatewayState = z.infer<typeof gatewayState>;
