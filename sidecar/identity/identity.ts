import type { IncomingHttpHeaders } from 'node:http';
import type { ProgramId, TenantId } from '../../src/index.js';
import type { JsonObject, RequestFacts } from '../apis/api.js';
import type { Leaf } from './history.js';

/** The program of a call, and the source that named it. */
export interface Identity {
  /** Scoped to the tenant, so no id from a client can name another tenant's program. */
  readonly program: ProgramId;
  /** The client's name of the program, for `x-maitred-program`: printable ASCII, at most 256 characters. */
  readonly label: string;
  /** '' for the root's own calls. */
  readonly thread: string;
  /** Whether the client declares this call its program's last. */
  readonly final: boolean;
  /** The source that matched: a header's or field's name, 'history', or 'none' for a new program. */
  readonly source: string;
  /** Facts to remember with the answer; undefined: its text is not needed afterwards. */
  readonly leaf: Leaf | undefined;
  /** Whether an earlier program, now over, used the id: that program must be ended first. */
  readonly renews: boolean;
  /** Present if nothing here names the program, and another gateway may know it. */
  readonly sought: Sought | undefined;
}

/** Keys by which another gateway may recognise a call's program. */
export interface Sought {
  /** The last answer first. */
  readonly keys: readonly string[];
  /** Source of the identity if one of them is known. */
  readonly source: string;
  /** Hash of the first message: a sub-agent begins unlike its parent. */
  readonly opening?: number;
}

export interface IdentityRequest {
  readonly tenant: TenantId;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject | undefined;
  /** Absent for bodies of an unknown API. */
  readonly facts: RequestFacts | undefined;
  /** Identity of the same request when it left the queue before, in case nothing in the request names its program. */
  readonly before?: Identity | undefined;
}

/** A call's statement about its program, before scoping to a tenant and the root. Ids are clean (see `names.ts`). */
export interface Claim {
  readonly id: string;
  /** The sub-agent within that program; '' or the program's own id for the root. */
  readonly thread?: string | undefined;
  /** The parent program, if this one is a sub-agent. Ignored if the call names a thread. */
  readonly parent?: string | undefined;
  /** Whether this is the last call under this id. */
  readonly final?: boolean;
  /** Name of the header or field that held it. */
  readonly source: string;
}

export interface Activity {
  readonly activeCalls: number;
  /** Time since its last call ended, in milliseconds. */
  readonly idleMs: number;
}
