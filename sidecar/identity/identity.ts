import type { IncomingHttpHeaders } from 'node:http';
import type { ProgramId, TenantId } from '../../src/index.js';
import type { JsonObject, RequestFacts } from '../apis/api.js';

/** Which program a call belongs to, and what said so. */
export interface Identity {
  /** Scoped to the tenant: no id that a client sends can name another tenant's program. */
  readonly program: ProgramId;
  /** The id as the client knows it, for `x-maitred-program`. */
  readonly label: string;
  /** '' for the root's own calls. */
  readonly thread: string;
  /** The client says that this is its program's last call. */
  readonly final: boolean;
  /** Which source matched: a header's or field's name, 'history', or 'none' for a program of one call. */
  readonly source: string;
  /** Whether the answer's text is needed afterwards, for history matching. */
  readonly wantsAnswer: boolean;
}

export interface IdentityRequest {
  readonly tenant: TenantId;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject | undefined;
  /** Absent for bodies that are not of a known API. */
  readonly facts: RequestFacts | undefined;
}
