import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../apis/api.js';
import { objectOf, parseObject, stringOf } from '../apis/fields.js';
import { readTraceparent } from '../http/headers.js';
import { percentDecoded } from '../http/target.js';
import type { Claim } from './identity.js';
import { cleanId } from './names.js';

/** Names under which a client writes about its program; the first one present counts. */
interface Names {
  readonly session: readonly string[];
  readonly thread?: readonly string[];
  readonly parent?: readonly string[];
  /** A flag on the session's last call. */
  readonly final?: string;
}

const MAITRED: Names = {
  session: ['x-maitred-program'],
  thread: ['x-maitred-thread'],
  parent: ['x-maitred-parent'],
};

/**
 * Headers with which agent harnesses, routers and load generators already name their programs. To add one, add a row.
 * The first row with a session header wins, so rows with threads come first; fields of different rows are never mixed.
 */
const HARNESSES: readonly Names[] = [
  // Claude Code
  { session: ['x-claude-code-session-id'], thread: ['x-claude-code-agent-id'] },
  // Codex
  { session: ['session-id', 'session_id'], thread: ['thread-id', 'thread_id'], parent: ['x-codex-parent-thread-id'] },
  // Dynamo's clients
  { session: ['x-dynamo-session-id'], parent: ['x-dynamo-parent-session-id'], final: 'x-dynamo-session-final' },
  // OpenCode; vLLM router, TensorRT-LLM, inference-perf
  {
    session: ['x-session-id', 'x-session-affinity', 'x-opencode-session'],
    parent: ['x-parent-session-id', 'x-opencode-parent-session'],
  },
  // LiteLLM
  { session: ['x-litellm-session-id', 'x-litellm-trace-id'] },
  // Mistral Vibe, AIBrix, SGLang model gateway, llm-d
  { session: ['x-affinity', 'x-aibrix-session-key', 'x-smg-routing-key', 'x-llm-d-inference-fairness-id'] },
];

/** AIPerf's and TensorRT-LLM's. Last, because proxies also use this name for the id of a single request. */
const CORRELATION: Names = { session: ['x-correlation-id'] };

/** Any other vendor's session header, a convention of LiteLLM. */
const VENDOR_SESSION = /^x-([a-z0-9-]+)-session-id$/;

/** Whether the client declares this call its program's last, however the program was found. */
export const saysFinal = (headers: IncomingHttpHeaders): boolean => isYes(headers['x-maitred-final']);

/** Whether the request is a retry, which official clients count. */
export const saysRetry = (headers: IncomingHttpHeaders): boolean => Number(headers['x-stainless-retry-count'] ?? 0) > 0;

const harnessClaim = (headers: IncomingHttpHeaders): Claim | undefined =>
  firstOf(HARNESSES, (names) => claimOf(headers, names)) ?? vendorClaim(headers) ?? claimOf(headers, CORRELATION);

function firstOf<T, R>(all: readonly T[], read: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = read(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function vendorClaim(headers: IncomingHttpHeaders): Claim | undefined {
  const names = Object.keys(headers).filter((name) => name.endsWith('-session-id'));
  // Sorted, so that the result does not depend on the order in which a proxy writes headers.
  return firstOf(names.sort(), (name) => {
    const vendor = VENDOR_SESSION.exec(name)?.[1];
    if (vendor === undefined || /(?:^|-)parent$/.test(vendor)) return undefined;
    const parent = [`x-${vendor}-parent-session-id`];
    return claimOf(headers, { session: [name], parent, final: `x-${vendor}-session-final` });
  });
}

/** A client's statement about its program in headers, or in one object of a body. The source is the id's name. */
function claimOf(from: Readonly<Record<string, unknown>>, names: Names): Claim | undefined {
  const idOf = (some: readonly string[] = []) =>
    firstOf(some, (source) => {
      const id = cleanId(from[source]);
      return id === undefined ? undefined : { id, source };
    });
  const session = idOf(names.session);
  if (session === undefined) return undefined;
  const final = names.final !== undefined && isYes(from[names.final]);
  return { ...session, thread: idOf(names.thread)?.id, parent: idOf(names.parent)?.id, final };
}

const isYes = (value: unknown): boolean =>
  value === true || value === 1 || (typeof value === 'string' && /^\s*(?:true|1|yes)\s*$/i.test(value));

/** The header's value; of a repeated one, the first. */
export function valueOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Sources: https://www.w3.org/TR/baggage/ and https://www.w3.org/TR/trace-context/ */
const BAGGAGE_KEYS = ['session.id', 'gen_ai.conversation.id'];

/** The first value of each key counts; malformed members are skipped. */
function baggageClaim(headers: IncomingHttpHeaders): Claim | undefined {
  const entries: Record<string, string | undefined> = {};
  for (const member of valueOf(headers, 'baggage')?.split(',') ?? []) {
    const [pair = ''] = member.split(';', 1);
    const equals = pair.indexOf('=');
    const key = pair.slice(0, Math.max(0, equals)).trim();
    if (BAGGAGE_KEYS.includes(key)) entries[key] ??= percentDecoded(pair.slice(equals + 1).trim());
  }
  const claim = claimOf(entries, { session: BAGGAGE_KEYS });
  return claim && { ...claim, source: `baggage ${claim.source}` };
}

/** Treats a trace as a program. That holds for tracers with one trace per run, so this source is off by default. */
function traceparentClaim(headers: IncomingHttpHeaders): Claim | undefined {
  const trace = readTraceparent(valueOf(headers, 'traceparent'));
  return trace && { id: trace.traceId, source: 'traceparent' };
}

/** Body fields that name a program, tried in this order: a row each. Not `user`, which names a person. */
const FIELDS: readonly ((body: JsonObject) => Claim | undefined)[] = [
  readAgenticContext,
  // The contract of Continuum's clients: a step of a job, and whether it is the last.
  inField('vllm_xargs', { session: ['job_id'], final: 'is_last_step' }),
  inField('agent_hint', { session: ['session_id'], parent: ['parent_session_id'] }),
  // Codex repeats its headers here, so that they survive a proxy that drops them.
  inField('client_metadata', { session: ['session_id'], thread: ['thread_id'] }),
  (body) => claimOf(body, { session: ['conversation'] }),
  inField('conversation', { session: ['id'] }),
  inField('metadata', { session: ['session_id', 'conversation_id', 'thread_id'] }),
  readClaudeUser,
  (body) => claimOf(body, { session: ['session_id'] }),
];

/** ThunderAgent's field, which belongs to the same source as our own header. */
const PROGRAM_ID: Names = { session: ['program_id'] };

/** OpenAI's hint of a common prefix: some clients send a session's id, others the same text for every user. */
export const cacheKeyClaim = (body: JsonObject): Claim | undefined => claimOf(body, { session: ['prompt_cache_key'] });

function inField(at: string, names: Names): (typeof FIELDS)[number] {
  return (body) => {
    const claim = claimOf(objectOf(body[at]), names);
    return claim && { ...claim, source: `${at}.${claim.source}` };
  };
}

const CLAUDE_SESSION = '_session_';

/** Claude Code appends its session to the user: `..._session_<uuid>`, or since 2.1.78 in an object printed as text. */
function readClaudeUser(body: JsonObject): Claim | undefined {
  const source = 'metadata.user_id';
  const user = stringOf(objectOf(body['metadata'])['user_id']);
  if (user.startsWith('{')) {
    const claim = claimOf(parseObject(user) ?? {}, { session: ['session_id'] });
    return claim && { ...claim, source };
  }
  // A single pattern for both parts would restart at each of a million marks.
  const at = user.lastIndexOf(CLAUDE_SESSION);
  const id = at < 0 ? '' : user.slice(at + CLAUDE_SESSION.length);
  return /^[\w-]+$/.test(id) ? { id, source } : undefined;
}

/**
 * vLLM router's own contract, an object or its JSON text. There, every agent of a task is a program. Here, the task is
 * the program, and its agents except the leader are threads. A leader that is not expected to resume makes its last call.
 */
function readAgenticContext(body: JsonObject): Claim | undefined {
  const source = 'vllm_xargs.agentic_context';
  const raw = objectOf(body['vllm_xargs'])['agentic_context'];
  const context = typeof raw === 'string' ? (parseObject(raw) ?? {}) : objectOf(raw);
  const task = cleanId(context['task_id']) ?? cleanId(context['session_id']);
  const final = context['expected_resume'] === false;
  if (task === undefined) {
    const claim = claimOf(context, { session: ['program_id'], parent: ['parent_program_id'] });
    return claim && { ...claim, source, final };
  }
  const agent = (cleanId(context['agent_id']) ?? cleanId(context['program_id']) ?? task).replace(`${task}:`, '');
  const thread = agent === 'lead' || agent === task ? '' : agent;
  return { id: task, source, thread, final: thread === '' && final };
}

/** Claims of a call about its program, by source. */
export const CLAIMS = {
  maitred: (headers, body) =>
    claimOf(headers, MAITRED) ?? claimOf(body, PROGRAM_ID) ?? claimOf(objectOf(body['extra_body']), PROGRAM_ID),
  harness: harnessClaim,
  body: (_, body) => firstOf(FIELDS, (read) => read(body)),
  baggage: baggageClaim,
  traceparent: traceparentClaim,
} satisfies Record<string, (headers: IncomingHttpHeaders, body: JsonObject) => Claim | undefined>;
