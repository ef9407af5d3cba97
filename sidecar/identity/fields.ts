import type { JsonObject } from '../apis/api.js';
import { objectOf, parseObject, stringOf } from '../apis/fields.js';
import type { Claim } from './identity.js';
import { cleanId } from './names.js';

/**
 * Body fields that name a client's program, tried in this order. To add one, add a row. `user` is not among them: it
 * names a person, not a program.
 */
type Reader = (body: JsonObject) => Omit<Claim, 'source'> | undefined;

const FIELDS: readonly (readonly [source: string, read: Reader])[] = [
  ['vllm_xargs.agentic_context', readAgenticContext],
  ['vllm_xargs.job_id', readContinuum],
  ['agent_hint', (body) => session(objectOf(body['agent_hint']), 'session_id', undefined, 'parent_session_id')],
  // Codex repeats its headers here, so that they survive a proxy that drops them.
  ['client_metadata.session_id', (body) => session(objectOf(body['client_metadata']), 'session_id', 'thread_id')],
  ['conversation', (body) => session(body, 'conversation') ?? session(objectOf(body['conversation']), 'id')],
  ['metadata.session_id', (body) => session(objectOf(body['metadata']), 'session_id')],
  ['metadata.conversation_id', (body) => session(objectOf(body['metadata']), 'conversation_id')],
  ['metadata.thread_id', (body) => session(objectOf(body['metadata']), 'thread_id')],
  ['metadata.user_id', readClaudeUser],
  ['session_id', (body) => session(body, 'session_id')],
];

/** ThunderAgent's field, which belongs to the same source as our own header. */
export function programIdClaim(body: JsonObject): Claim | undefined {
  const id = cleanId(body['program_id']) ?? cleanId(objectOf(body['extra_body'])['program_id']);
  return id === undefined ? undefined : { id, source: 'program_id' };
}

export function fieldClaim(body: JsonObject): Claim | undefined {
  for (const [source, read] of FIELDS) {
    const claim = read(body);
    if (claim) return { source, ...claim };
  }
  return undefined;
}

/** OpenAI's hint of a common prefix: some clients send a session's id, others the same text for every user. */
export function cacheKeyClaim(body: JsonObject): Claim | undefined {
  const id = cleanId(body['prompt_cache_key']);
  return id === undefined ? undefined : { id, source: 'prompt_cache_key' };
}

function session(holder: JsonObject, id: string, thread?: string, parent?: string): ReturnType<Reader> {
  const clean = cleanId(holder[id]);
  if (clean === undefined) return undefined;
  const read = (field: string | undefined) => (field === undefined ? undefined : cleanId(holder[field]));
  return { id: clean, thread: read(thread), parent: read(parent) };
}

const CLAUDE_SESSION = '_session_';

/** Claude Code appends its session to the user: `..._session_<uuid>`, or since 2.1.78 in an object printed as text. */
function readClaudeUser(body: JsonObject): ReturnType<Reader> {
  const user = stringOf(objectOf(body['metadata'])['user_id']);
  if (user.startsWith('{')) return session(parseObject(user) ?? {}, 'session_id');
  // A single pattern for both parts would restart at each of a million marks.
  const at = user.lastIndexOf(CLAUDE_SESSION);
  const id = at < 0 ? '' : user.slice(at + CLAUDE_SESSION.length);
  return /^[\w-]+$/.test(id) ? { id } : undefined;
}

/** The contract of Continuum's clients: a step of a job, and whether it is the last. */
function readContinuum(body: JsonObject): ReturnType<Reader> {
  const args = objectOf(body['vllm_xargs']);
  const claim = session(args, 'job_id');
  return claim && { ...claim, final: args['is_last_step'] === true || args['is_last_step'] === 1 };
}

/**
 * vLLM router's own contract, an object or its JSON text. There, every agent of a task is a program. Here, the task is
 * the program, and its agents except the leader are threads. A leader that is not expected to resume makes its last call.
 */
function readAgenticContext(body: JsonObject): ReturnType<Reader> {
  const raw = objectOf(body['vllm_xargs'])['agentic_context'];
  const context = typeof raw === 'string' ? (parseObject(raw) ?? {}) : objectOf(raw);
  const task = cleanId(context['task_id']) ?? cleanId(context['session_id']);
  const final = context['expected_resume'] === false;
  if (task === undefined) {
    const claim = session(context, 'program_id', undefined, 'parent_program_id');
    return claim && { ...claim, final };
  }
  const agent = (cleanId(context['agent_id']) ?? cleanId(context['program_id']) ?? task).replace(`${task}:`, '');
  const thread = agent === 'lead' || agent === task ? '' : agent;
  return { id: task, thread, final: thread === '' && final };
}
