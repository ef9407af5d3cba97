import type { JsonObject } from '../apis/api.js';
import { objectOf, parseObject, stringOf } from '../apis/fields.js';
import type { Claim } from './identity.js';
import { cleanId } from './names.js';

/**
 * Body fields by which clients name their programs, tried in this order. To add one, add a row.
 * `user` is not among them: it names a person, not a program.
 */
type Reader = (body: JsonObject) => Omit<Claim, 'source'> | undefined;

const FIELDS: readonly (readonly [source: string, read: Reader])[] = [
  ['vllm_xargs.agentic_context', readAgenticContext],
  ['agent_hint', (body) => session(objectOf(body['agent_hint']), 'session_id', undefined, 'parent_session_id')],
  // Codex repeats its headers here, which survive a proxy that drops them.
  ['client_metadata.session_id', (body) => session(objectOf(body['client_metadata']), 'session_id', 'thread_id')],
  ['conversation', (body) => session(body, 'conversation') ?? session(objectOf(body['conversation']), 'id')],
  ['metadata.session_id', (body) => session(objectOf(body['metadata']), 'session_id')],
  ['metadata.conversation_id', (body) => session(objectOf(body['metadata']), 'conversation_id')],
  ['metadata.thread_id', (body) => session(objectOf(body['metadata']), 'thread_id')],
  ['metadata.user_id', readClaudeUser],
  ['session_id', (body) => session(body, 'session_id')],
];

/** ThunderAgent's field, which stands beside our own header. */
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

/** OpenAI's hint of a common prefix: some clients send an id of the session, others the same text from every user. */
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

/** Claude Code puts its session behind the user: `..._session_<uuid>`, or since 2.1.78 in an object printed as text. */
function readClaudeUser(body: JsonObject): ReturnType<Reader> {
  const user = stringOf(objectOf(body['metadata'])['user_id']);
  if (user.startsWith('{')) return session(parseObject(user) ?? {}, 'session_id');
  // One pattern for both parts would begin anew at each of a million marks.
  const at = user.lastIndexOf(CLAUDE_SESSION);
  const id = at < 0 ? '' : user.slice(at + CLAUDE_SESSION.length);
  return /^[\w-]+$/.test(id) ? { id } : undefined;
}

/**
 * vLLM router's own contract, an object or its JSON text. It makes every agent of a task a program; here the task is the
 * program and its agents, but for the leader, are threads.
 */
function readAgenticContext(body: JsonObject): ReturnType<Reader> {
  const raw = objectOf(body['vllm_xargs'])['agentic_context'];
  const context = typeof raw === 'string' ? (parseObject(raw) ?? {}) : objectOf(raw);
  const task = cleanId(context['task_id']) ?? cleanId(context['session_id']);
  if (task === undefined) return session(context, 'program_id', undefined, 'parent_program_id');
  const agent = (cleanId(context['agent_id']) ?? cleanId(context['program_id']) ?? task).replace(`${task}:`, '');
  return { id: task, thread: agent === 'lead' ? '' : agent };
}
