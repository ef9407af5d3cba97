import type { IncomingHttpHeaders } from 'node:http';
import type { ProgramId, TenantId } from '../../src/index.js';
import type { AnswerFacts, JsonObject, RequestFacts } from '../apis/api.js';
import type { Leaf } from './history.js';

/** Which program a call belongs to, and what said so. */
export interface Identity {
  /** Scoped to the tenant: no id that a client sends can name another tenant's program. */
  readonly program: ProgramId;
  /** The id as the client knows it, for `x-maitred-program`: printable ASCII, at most 256 characters. */
  readonly label: string;
  /** '' for the root's own calls. */
  readonly thread: string;
  /** The client says that this is its program's last call. */
  readonly final: boolean;
  /** Which source matched: a header's or field's name, 'history', or 'none' for a program of one call. */
  readonly source: string;
  /** Whether the answer's text is needed afterwards, for history matching. */
  readonly wantsAnswer: boolean;
  /** What the answer will be remembered by; absent where it is not wanted. */
  readonly leaf?: Leaf;
  /** The id was used before, by a program that is over: that one is to be ended first. */
  readonly renews?: boolean;
}

export interface IdentityRequest {
  readonly tenant: TenantId;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject | undefined;
  /** Absent for bodies that are not of a known API. */
  readonly facts: RequestFacts | undefined;
  /** Of the same request, which left the queue before: stands where nothing in the request names its program. */
  readonly before?: Identity | undefined;
}

/** What a call says of its program, before it is scoped to a tenant and led to its root. Ids are clean (see `names.ts`). */
export interface Claim {
  readonly id: string;
  /** The sub-agent inside that program; '' or the program's own id for the root. */
  readonly thread?: string | undefined;
  /** The program that this one is a sub-agent of. Without meaning where the call names a thread. */
  readonly parent?: string | undefined;
  /** The last call under this id. */
  readonly final?: boolean;
  /** Name of the header or field that it was read from. */
  readonly source: string;
}

/** What the scheduler knows of a program. */
export interface Activity {
  readonly activeCalls: number;
  /** Since its last call ended, in milliseconds. */
  readonly idleMs: number;
}

/**
 * Answers the question "which program does this call belong to?", and keeps the bounded memory that this takes.
 * Never throws for anything that a client sent.
 */
export interface Identifier {
  identify(request: IdentityRequest): Identity;
  /** Remembers a whole answer, so that a call which goes on from it finds its program. */
  answered(identity: Identity, request: Pick<IdentityRequest, 'tenant'>, facts: AnswerFacts): void;
  /** Forgets what led to the program: a call that goes on from its answers is a new program. */
  ended(program: ProgramId): void;
  /** The program that a client of this tenant means by `id`; `undefined` for what cannot be an id. */
  named(tenant: TenantId, id: unknown): ProgramId | undefined;
}
