import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { callId, type EngineId } from '../../src/index.js';
import type { RequestFacts } from '../apis/index.js';
import { BUDGET_HEADER, budgetOf, exceeded, leftOf, nearing, warning } from './budget.js';
import { Call } from './call.js';
import { checkOurHeaders } from './client-headers.js';
import { readDeclaration } from './declaration.js';
import { withNote } from './note.js';
import type { BatchLine, CallSpec } from './spec.js';
import { askOthers } from '../cluster/ask.js';
import type { Context } from '../context.js';
import type { HeldBody } from '../bodies/held.js';
import { familyOf } from '../bodies/family.js';
import { demandOf } from './holder.js';
import { unserved } from '../unscheduled/models.js';
import type { Asked } from '../unscheduled/relay.js';
import { checkMediaType, readBody } from '../http/body.js';
import { checked } from '../http/checked.js';
import { requestIdOf } from '../http/headers.js';
import { splitTarget } from '../http/target.js';
import { saysRetry, valueOf } from '../identity/claims.js';
import { fingerprintOf } from '../identity/returning.js';
import { endProgram } from '../admin/programs.js';

/** Prefix of call ids, random for each process; a counter completes it. So ids are unique across processes. */
const PROCESS = randomBytes(5).toString('hex');
let calls = 0;

/** Those of OpenAI, Anthropic and other clouds: a misspelt `flex` would run like all others in silence. */
const TIER = z
  .enum([
    'auto',
    'default',
    'flex',
    'priority',
    'scale',
    'standard_only',
    'standard',
    'fast',
    'batch',
    'on_demand',
    'performance',
    'reserved',
  ])
  .nullish();

/** A request to be scheduled, as it came in. */
export interface Incoming extends Asked {
  /** The route's own path: engines redirect a trailing slash, which a client may have added. */
  readonly path: string;
  /** Absent: a client's call. */
  readonly line?: BatchLine;
}

/** Reads, checks and identifies a request, then hands it to the scheduler. @throws GatewayError if that cannot be */
export async function acceptCall(context: Context, incoming: Incoming): Promise<void> {
  const held = context.held.open(incoming.tenant);
  try {
    await acceptBody(context, incoming, held);
  } catch (error) {
    held.release();
    throw error;
  }
}

async function acceptBody(context: Context, incoming: Incoming, held: HeldBody): Promise<void> {
  const { api, path, tenant, line, request, response } = incoming;
  const { headers } = request;
  checkOurHeaders(headers);
  checkMediaType(request);
  const { limits, timeouts } = context.config;
  const bytes = await readBody(request, response, { bodyBytes: limits.bodyBytes, bodyMs: timeouts.bodyMs, held });
  const isWanted = () => !request.socket.destroyed;
  const read = context.reader.read(tenant, api, path, bytes, isWanted);
  const given = read instanceof Promise ? await read : read;
  const { body, facts, opening } = given;
  const tier = line === undefined ? checked(TIER, body['service_tier'], ['service_tier']) : null;
  // Reading the body takes time, so draining may have begun.
  context.checkNotDraining();
  const { fleet } = context;
  if (fleet.serving(facts.model).length === 0 && !fleet.awaited.has(facts.model)) throw unserved(context, facts.model);
  const { search } = splitTarget(request.url ?? '');
  const { raw, keys, remaining, workflow } = readDeclaration(headers, given);
  const fingerprint = fingerprintOf(given);
  const before = context.returning.find(tenant, fingerprint);
  const own = context.identifier.identify({ tenant, headers, body, facts, before });
  context.returning.came(tenant, fingerprint, own);
  if (own.renews) endProgram(context, own.program);
  const asked = { tenant, facts, identity: own };
  const { identity, elsewhere } =
    context.cluster === undefined
      ? { identity: own }
      : await askOthers(context, context.cluster, asked, before !== undefined);
  const { over, note, ...bounds } = boundsOf(context, { tenant, workflow, identity, headers, raw, api });
  const { engine, promptTokens } = demandOf(context, tenant, facts);
  const spec: CallSpec = {
    id: callId(`${PROCESS}-${++calls}`),
    requestId: requestIdOf(request),
    api,
    path,
    search,
    tenant,
    identity,
    ...bounds,
    elsewhere,
    facts: withoutBody(facts),
    engine: engine ?? (line?.isBackground === true ? partOf(context, facts.model, line.engine) : undefined),
    mayMove: engine === undefined,
    promptTokens,
    family: familyOf(facts.model, opening, context.tokens),
    remaining,
    workflow,
    fingerprint,
    isRetry: saysRetry(headers),
    line,
    isBackground: line?.isBackground ?? tier === 'flex',
    headers,
    raw,
    keys,
    held,
    fields: { ...api.usageFields?.(body), ...note },
    trace: context.tracing?.begin(tenant, identity, headers),
  };
  const call = new Call(spec, response, context);
  if (over === undefined) call.start();
  else call.refuse(over);
}

/** The budget of its program: what is left, whether it is over, and a note that tells the model of its end. */
function boundsOf(
  { config, driver, known, repeats }: Context,
  asked: Pick<CallSpec, 'tenant' | 'workflow' | 'identity' | 'headers' | 'raw' | 'api'>,
) {
  const { program, label } = asked.identity;
  const text = valueOf(asked.headers, BUDGET_HEADER);
  const budget = budgetOf(config, asked, text, () => {
    const row = driver.scheduler.views.program(program);
    return row && { ...row, repeats: repeats.of(program) };
  });
  const near = nearing(budget, config.budget.warnAt, known.of({ id: program, removed: undefined }));
  const note = near.length === 0 ? undefined : withNote(asked.raw, asked.api.list, warning(near));
  return {
    budgetLeft: leftOf(budget),
    warned: note === undefined ? [] : near,
    note,
    over: exceeded(budget, label, text),
  };
}

/** The engine of a line's part, if it serves the model. */
const partOf = ({ fleet }: Context, model: string, engine: EngineId | undefined) =>
  fleet.serving(model).find(({ id }) => id === engine)?.id;

/** A call may wait for minutes. It keeps the bytes to send, not the parsed body as well. */
const withoutBody = (facts: RequestFacts): RequestFacts => ({ ...facts, conversation: () => [] });
