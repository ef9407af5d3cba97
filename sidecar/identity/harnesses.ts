import type { IncomingHttpHeaders } from 'node:http';
import type { Claim } from './identity.js';
import { cleanId } from './names.js';

/** Names under which a client writes about its program; the first one present counts. */
export interface Names {
  readonly session: readonly string[];
  /** The sub-agent's own id inside the session. */
  readonly thread?: readonly string[];
  /** The parent of this session, if it is a sub-agent's. */
  readonly parent?: readonly string[];
  /** A flag on the session's last call. */
  readonly final?: string;
}

/**
 * Headers with which agent harnesses, routers and load generators already name their programs. To add one, add a row.
 * The first row with a session header wins, so rows with threads come before rows without; fields of different rows are
 * never mixed.
 */
interface Harness extends Names {
  /** For the reader only. */
  readonly sender: string;
}

const MAITRED: Harness = {
  sender: 'clients that were told of maitred',
  session: ['x-maitred-program'],
  thread: ['x-maitred-thread'],
  parent: ['x-maitred-parent'],
};

const HARNESSES: readonly Harness[] = [
  { sender: 'Claude Code', session: ['x-claude-code-session-id'], thread: ['x-claude-code-agent-id'] },
  {
    sender: 'Codex',
    session: ['session-id', 'session_id'],
    thread: ['thread-id', 'thread_id'],
    parent: ['x-codex-parent-thread-id'],
  },
  {
    sender: 'Dynamo clients',
    session: ['x-dynamo-session-id'],
    parent: ['x-dynamo-parent-session-id'],
    final: 'x-dynamo-session-final',
  },
  {
    sender: 'OpenCode; vLLM router, TensorRT-LLM, inference-perf',
    session: ['x-session-id', 'x-session-affinity', 'x-opencode-session'],
    parent: ['x-parent-session-id', 'x-opencode-parent-session'],
  },
  { sender: 'LiteLLM', session: ['x-litellm-session-id', 'x-litellm-trace-id'] },
  { sender: 'Mistral Vibe', session: ['x-affinity'] },
  { sender: 'AIBrix', session: ['x-aibrix-session-key'] },
  { sender: 'SGLang model gateway', session: ['x-smg-routing-key'] },
  { sender: 'llm-d', session: ['x-llm-d-inference-fairness-id'] },
];

/** Last, because proxies also use this name for the id of a single request. */
const CORRELATION: Harness = { sender: 'AIPerf, TensorRT-LLM', session: ['x-correlation-id'] };

/** Any other vendor's session header, a convention of LiteLLM. */
const VENDOR_SESSION = /^x-([a-z0-9-]+)-session-id$/;

export const maitredClaim = (headers: IncomingHttpHeaders): Claim | undefined => claimOf(headers, MAITRED);

/** Whether the client declares this call its program's last, however the program was found. */
export const saysFinal = (headers: IncomingHttpHeaders): boolean => isYes(headers['x-maitred-final']);

export function harnessClaim(headers: IncomingHttpHeaders): Claim | undefined {
  for (const harness of HARNESSES) {
    const claim = claimOf(headers, harness);
    if (claim) return claim;
  }
  return vendorClaim(headers) ?? claimOf(headers, CORRELATION);
}

function vendorClaim(headers: IncomingHttpHeaders): Claim | undefined {
  const names = Object.keys(headers).filter((name) => name.endsWith('-session-id'));
  // Sorted, so that the result does not depend on the order in which a proxy writes headers.
  for (const name of names.sort()) {
    const vendor = VENDOR_SESSION.exec(name)?.[1];
    if (vendor === undefined || vendor === 'parent' || vendor.endsWith('-parent')) continue;
    const parent = [`x-${vendor}-parent-session-id`];
    const claim = claimOf(headers, { session: [name], parent, final: `x-${vendor}-session-final` });
    if (claim) return claim;
  }
  return undefined;
}

/** A client's statement about its program in headers, or in one object of a body. The source is the id's name. */
export function claimOf(from: Readonly<Record<string, unknown>>, names: Names): Claim | undefined {
  const firstOf = (some: readonly string[] = []) => {
    for (const source of some) {
      const id = cleanId(from[source]);
      if (id !== undefined) return { id, source };
    }
    return undefined;
  };
  const session = firstOf(names.session);
  if (session === undefined) return undefined;
  const final = names.final !== undefined && isYes(from[names.final]);
  return { ...session, thread: firstOf(names.thread)?.id, parent: firstOf(names.parent)?.id, final };
}

const isYes = (value: unknown): boolean =>
  value === true || value === 1 || (typeof value === 'string' && /^\s*(?:true|1|yes)\s*$/i.test(value));

/** The header's value; of a repeated one, the first. */
export function valueOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
