import { createHash } from 'node:crypto';

export interface Place {
  /** Its program: unique for every program of every run. */
  readonly program: string;
  /** '' for the root's own calls, `a/b` for a sub-agent `b` of `a`. */
  readonly thread: string;
  /** Whether it is the last call of its program: no other is under way or to come. */
  readonly isFinal: boolean;
  /** Its workload in a mixture; '' when there is only one. */
  readonly workload: string;
  readonly call: string;
}

export interface Marks {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Identity {
  marks(place: Place): { readonly headers?: Marks['headers']; readonly body?: Marks['body'] };
  readonly release?: (program: string) => Release;
  /** Whether the last call says that it is the last, so that the message is only for programs that had no such call. */
  readonly marksFinal?: boolean;
}

interface Release {
  readonly path: string;
  readonly body: object;
}

/** A UUID as harnesses make them, but always the same one for the same text. */
export function idOf(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(parts.join('\n')).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const parentOf = (thread: string): string => thread.slice(0, Math.max(0, thread.lastIndexOf('/')));
/** The id of an agent: the root's is the program's. */
const agentOf = ({ program }: Place, thread: string): string => (thread === '' ? program : idOf(program, thread));

/** An identity by headers common to all calls of a program. */
const oneHeader = (...names: readonly string[]): Identity => ({
  marks: ({ program }) => ({ headers: Object.fromEntries(names.map((name) => [name, program])) }),
});

/** Each agent has its own session, which names the parent's session. */
function session(place: Place, names: readonly string[], parentName: string): Record<string, string> {
  const own = agentOf(place, place.thread);
  const parent = place.thread === '' ? {} : { [parentName]: agentOf(place, parentOf(place.thread)) };
  return { ...Object.fromEntries(names.map((name) => [name, own])), ...parent };
}

/** The ways in which real clients identify their programs. To add one, add a row. */
const IDENTITIES = {
  none: { marks: () => ({}) },
  maitred: {
    marks: ({ program, thread, workload, isFinal }) => ({
      headers: {
        'x-maitred-program': program,
        ...(thread !== '' && { 'x-maitred-thread': thread }),
        ...(workload !== '' && { 'x-maitred-workflow': workload }),
        ...(isFinal && { 'x-maitred-final': 'true' }),
      },
    }),
    marksFinal: true,
    release: (program) => ({ path: `/programs/${program}/end`, body: {} }),
  },
  'claude-code': {
    // Sub-agents share the session.
    marks: (place) => {
      const parent = parentOf(place.thread);
      return {
        headers: {
          'x-claude-code-session-id': place.program,
          ...(place.thread !== '' && { 'x-claude-code-agent-id': agentOf(place, place.thread) }),
          ...(parent !== '' && { 'x-claude-code-parent-agent-id': agentOf(place, parent) }),
        },
      };
    },
  },
  codex: {
    marks: (place) => {
      const own = agentOf(place, place.thread);
      const names = { session_id: place.program, thread_id: own };
      return {
        headers: {
          'session-id': place.program,
          'thread-id': own,
          'x-client-request-id': place.call,
          'x-codex-window-id': `${own}:0`,
          ...(place.thread !== '' && {
            'x-codex-parent-thread-id': agentOf(place, parentOf(place.thread)),
            'x-openai-subagent': 'collab_spawn',
          }),
        },
        body: { prompt_cache_key: place.program, client_metadata: names },
      };
    },
  },
  opencode: {
    marks: (place) => ({ headers: session(place, ['x-session-id', 'x-session-affinity'], 'x-parent-session-id') }),
  },
  dynamo: {
    marks: (place) => ({
      headers: {
        ...session(place, ['x-dynamo-session-id'], 'x-dynamo-parent-session-id'),
        ...(place.isFinal && { 'x-dynamo-session-final': 'true' }),
      },
    }),
  },
  litellm: oneHeader('x-litellm-session-id', 'x-litellm-trace-id'),
  vendor: oneHeader('x-vendor-session-id'),
  'llm-d': oneHeader('x-llm-d-inference-fairness-id'),
  sglang: oneHeader('x-smg-routing-key'),
  aibrix: oneHeader('x-session-id', 'x-aibrix-session-key'),
  trtllm: oneHeader('x-session-id', 'x-correlation-id'),
  aiperf: {
    marks: ({ program, call }) => ({
      headers: { 'x-correlation-id': program, 'x-session-affinity': program, 'x-request-id': call },
    }),
  },
  'inference-perf': oneHeader('x-session-id'),
  thunderagent: {
    marks: ({ program }) => ({ body: { program_id: program } }),
    release: (program) => ({ path: '/programs/release', body: { program_id: program } }),
  },
  'vllm-router': {
    marks: ({ program }) => ({ headers: { 'x-session-id': program }, body: { session_id: program } }),
    release: (program) => ({ path: '/finish_session', body: { session_id: program } }),
  },
} as const satisfies Readonly<Record<string, Identity>>;

export type IdentityName = keyof typeof IDENTITIES;
export const IDENTITY_NAMES = Object.keys(IDENTITIES) as IdentityName[];

export function marksOf(name: IdentityName, place: Place): Marks {
  const identity: Identity = IDENTITIES[name];
  return { headers: {}, body: {}, ...identity.marks(place) };
}

/**
 * The message to post when a program has ended; undefined for clients that send none.
 * @param hadFinal whether a call was marked as its last: of parallel calls none is known to be
 */
export function releaseOf(name: IdentityName, program: string, hadFinal: boolean): Release | undefined {
  const { release, marksFinal = false }: Identity = IDENTITIES[name];
  return marksFinal && hadFinal ? undefined : release?.(program);
}
