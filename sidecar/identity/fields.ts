import type { JsonObject } from '../apis/api.js';
import { objectOf, parseObject, stringOf } from '../apis/fields.js';
import { claimOf, type Names } from './harnesses.js';
import type { Claim } from './identity.js';
import { cleanId } from './names.js';

/**
 * Body fields that name a client's program, tried in this order. To add one, add a row. `user` is not among them: it
 * names a person, not a program.
 */
type Field = ((body: JsonObject) => Claim | undefined) | (Names & { readonly at?: string });

const FIELDS: readonly Field[] = [
  readAgenticContext,
  // The contract of Continuum's clients: a step of a job, and whether it is the last.
  { at: 'vllm_xargs', session: ['job_id'], final: 'is_last_step' },
  { at: 'agent_hint', session: ['session_id'], parent: ['parent_session_id'] },
  // Codex repeats its headers here, so that they survive a proxy that drops them.
  { at: 'client_metadata', session: ['session_id'], thread: ['thread_id'] },
  { session: ['conversation'] },
  { at: 'conversation', session: ['id'] },
  { at: 'metadata', session: ['session_id', 'conversation_id', 'thread_id'] },
  readClaudeUser,
  { session: ['session_id'] },
];

/** ThunderAgent's field, which belongs to the same source as our own header. */
export const programIdClaim = (body: JsonObject): Claim | undefined =>
  claimOf(body, { session: ['program_id'] }) ?? claimOf(objectOf(body['extra_body']), { session: ['program_id'] });

export function fieldClaim(body: JsonObject): Claim | undefined {
  for (const field of FIELDS) {
    const claim = typeof field === 'function' ? field(body) : claimAt(body, field);
    if (claim) return claim;
  }
  return undefined;
}

function claimAt(body: JsonObject, { at, ...names }: Names & { readonly at?: string }): Claim | undefined {
  if (at === undefined) return claimOf(body, names);
  const claim = claimOf(objectOf(body[at]), names);
  return claim && { ...claim, source: `${at}.${claim.source}` };
}

/** OpenAI's hint of a common prefix: some clients send a session's id, others the same text for every user. */
export const cacheKeyClaim = (body: JsonObject): Claim | undefined => claimOf(body, { session: ['prompt_cache_key'] });

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
