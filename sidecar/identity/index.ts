import type { ProgramId, TenantId } from '../../src/index.js';
import type { AnswerFacts, Turn } from '../apis/api.js';
import type { IDENTITY_SOURCES } from '../config/schema.js';
import { Ends } from './ends.js';
import type { Seat } from './ends.js';
import { cacheKeyClaim, fieldClaim, programIdClaim } from './fields.js';
import { harnessClaim, maitredClaim, saysFinal } from './harnesses.js';
import { History } from './history.js';
import type { Answered, Leaf } from './history.js';
import type { Activity, Claim, Identifier, Identity, IdentityRequest } from './identity.js';
import { Lineage } from './lineage.js';
import { cleanId, labelOf, madeProgram, namedProgram } from './names.js';
import { saysRetry } from './returning.js';
import { SharedCache } from './shared-cache.js';
import { baggageClaim, traceparentClaim } from './tracing.js';
import { Trail } from './trail.js';

export type { Identifier, Identity, IdentityRequest } from './identity.js';

type Source = (typeof IDENTITY_SOURCES)[number];

export interface IdentifierOptions {
  /** Where ids are looked for, first match wins. */
  readonly sources: readonly Source[];
  /** Answered conversations remembered; also bounds the links of sub-agents and the ends of programs. */
  readonly conversationsMax: number;
  /** Ids of served responses remembered. */
  readonly responsesMax: number;
  /** Whether programs are also told by answers and messages that their client has rewritten. */
  readonly rewritten: boolean;
  /** How long an id must have been idle for a call without history to begin a new program; 0: it never does. */
  readonly reuseMs: number;
  /** `undefined` for a program that the scheduler does not know, or no longer. */
  readonly activityOf: (program: ProgramId) => Activity | undefined;
  /** Makes the id of a program that has none; must never return the same one twice. */
  readonly newId: () => string;
}

export const createIdentifier = (options: IdentifierOptions): Identifier => new ProgramIdentifier(options);

/** A response that was served. */
interface Served extends Seat {
  readonly thread: string;
  /** Where its answer stands, if it is also known by its history. */
  readonly answered: Answered | undefined;
}

type Found = Pick<Identity, 'program' | 'thread' | 'final' | 'source' | 'renews'>;

/**
 * Unrelated calls in flight at once that show a `prompt_cache_key` to be shared by programs. A UUID names one session, whose
 * sub-agents may send it at once; Codex runs at most six.
 */
const SHARERS = { uuid: 8, other: 1 };
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Of these sources, what is remembered of the answer may be all that names the next call's program. */
const TOLD_BY_HISTORY: ReadonlySet<string> = new Set(['history', 'none', 'prompt_cache_key']);

class ProgramIdentifier implements Identifier {
  readonly #options: IdentifierOptions;
  readonly #ends: Ends;
  readonly #lineage: Lineage;
  readonly #history: History;
  readonly #responses: SharedCache<Served>;
  /** Values of `prompt_cache_key` that name no program. */
  readonly #sharedKeys: SharedCache<true>;
  /** Whether an answer has stood in a call of the program. */
  readonly #conversed: SharedCache<boolean>;

  constructor(options: IdentifierOptions) {
    this.#options = options;
    this.#ends = new Ends(options.conversationsMax);
    this.#lineage = new Lineage(options.conversationsMax);
    this.#history = new History(options.conversationsMax, this.#ends, options.rewritten);
    this.#responses = new SharedCache(options.responsesMax);
    this.#sharedKeys = new SharedCache(options.conversationsMax);
    this.#conversed = new SharedCache(options.conversationsMax);
  }

  identify(request: IdentityRequest): Identity {
    const call = new Call(request, this.#options.sources);
    const found = this.#find(call) ?? this.#before(call) ?? this.#unknown(call);
    const leaf = TOLD_BY_HISTORY.has(found.source) ? call.leaf : undefined;
    return { label: labelOf(found.program), wantsAnswer: leaf !== undefined, ...found, ...(leaf && { leaf }) };
  }

  answered(
    { program, thread, leaf }: Identity,
    { tenant }: Pick<IdentityRequest, 'tenant'>,
    { responseId, message }: AnswerFacts,
  ): void {
    const answered = leaf && message && this.#history.remember(tenant, leaf, message, program);
    if (responseId === undefined) return;
    this.#responses.set(tenant, responseId, { thread, answered, ...this.#ends.seat(program) });
  }

  ended(program: ProgramId): void {
    this.#ends.ended(program);
    this.#lineage.forget(program);
  }

  named(tenant: TenantId, id: unknown): ProgramId | undefined {
    const clean = cleanId(id);
    return clean === undefined ? undefined : this.#lineage.rootOf(namedProgram(tenant, clean));
  }

  #find(call: Call): Found | undefined {
    for (const source of this.#options.sources) {
      const found = this.#findIn(source, call);
      if (found) return found;
    }
    return undefined;
  }

  #findIn(source: Source, call: Call): Found | undefined {
    const { headers, body = {} } = call.request;
    switch (source) {
      case 'maitred':
        return this.#fromClaim(call, maitredClaim(headers) ?? programIdClaim(body));
      case 'harness':
        return this.#fromClaim(call, harnessClaim(headers));
      case 'body':
        return this.#fromClaim(call, fieldClaim(body)) ?? this.#fromPreviousResponse(call) ?? this.#fromCacheKey(call);
      case 'baggage':
        return this.#fromClaim(call, baggageClaim(headers));
      case 'traceparent':
        return this.#fromClaim(call, traceparentClaim(headers));
      case 'history':
        return this.#before(call) ?? this.#fromHistory(call);
    }
  }

  /** A repetition goes on from nowhere: its history has been taken up by its first try. */
  #before(call: Call): Found | undefined {
    const { before } = call.request;
    if (before === undefined) return undefined;
    call.leaf = before.leaf;
    return { program: before.program, thread: before.thread, final: call.isFinal, source: before.source };
  }

  #fromClaim(call: Call, claim: Claim | undefined): Found | undefined {
    if (!claim) return undefined;
    const { tenant } = call.request;
    const { id, thread = '', parent, source } = claim;
    const own = namedProgram(tenant, id);
    const isSession = thread === '' || thread === id;
    const root =
      isSession && parent !== undefined
        ? this.#lineage.link(own, namedProgram(tenant, parent))
        : this.#lineage.rootOf(own);
    const isRoot = root === own;
    return {
      program: root,
      thread: !isSession ? thread : isRoot ? '' : id,
      // The last call of a sub-agent's own session is not the last of its root.
      final: isRoot && (call.isFinal || claim.final === true),
      source,
      ...(this.#isReused(call, root) && { renews: true }),
    };
  }

  /**
   * Whether the id is an old one, used again: load tools call their conversations `conv_0` in every run. Only a program whose
   * calls had a history is over when a call comes without: one-shot calls under one id have none, and go on as they began.
   */
  #isReused(call: Call, program: ProgramId): boolean {
    const { tenant, headers } = call.request;
    if (call.turns.length === 0 || this.#options.reuseMs === 0) return false;
    const goesOn = call.turns.some(({ role }) => role === 'assistant');
    if (goesOn) this.#conversed.set(tenant, program, true);
    if (goesOn || this.#conversed.get(tenant, program) !== true || saysRetry(headers)) return false;
    const activity = this.#options.activityOf(program);
    if (activity && (activity.activeCalls > 0 || activity.idleMs < this.#options.reuseMs)) return false;
    this.#conversed.set(tenant, program, false);
    return activity !== undefined;
  }

  /** A key under which unrelated calls are in flight at once is no identity: then their histories tell the programs. */
  #fromCacheKey(call: Call): Found | undefined {
    const { tenant, headers, body = {} } = call.request;
    const claim = cacheKeyClaim(body);
    if (!claim || !call.trail) return this.#fromClaim(call, claim);
    if (this.#sharedKeys.get(tenant, claim.id)) return undefined;
    const own = this.#lineage.rootOf(namedProgram(tenant, claim.id));
    const { program, leaf } = this.#history.find(tenant, call.trail, own);
    const sharers = UUID.test(claim.id) ? SHARERS.uuid : SHARERS.other;
    const active = this.#options.activityOf(own)?.activeCalls ?? 0;
    if (program === undefined && active >= sharers && !saysRetry(headers)) {
      this.#sharedKeys.set(tenant, claim.id, true);
      return undefined;
    }
    call.leaf = leaf;
    return this.#fromClaim(call, claim);
  }

  #fromPreviousResponse(call: Call): Found | undefined {
    const id = call.request.facts?.previousResponseId;
    const served = id === undefined ? undefined : this.#responses.get(call.request.tenant, id);
    if (!served || !this.#ends.isAlive(served)) return undefined;
    const { program, thread, answered } = served;
    if (answered) this.#history.leave(answered);
    return { program, thread, final: call.isFinal, source: 'previous_response_id' };
  }

  #fromHistory(call: Call): Found | undefined {
    if (!call.trail) return undefined;
    const { program, leaf } = this.#history.find(call.request.tenant, call.trail);
    call.leaf = leaf;
    return program && { program, thread: '', final: call.isFinal, source: 'history' };
  }

  #unknown(call: Call): Found {
    const program = madeProgram(call.request.tenant, this.#options.newId());
    return { program, thread: '', final: call.isFinal, source: 'none' };
  }
}

/** A request, with what several sources ask of it. */
class Call {
  readonly request: IdentityRequest;
  /** The client says that its program ends with this call, however the program is found. */
  readonly isFinal: boolean;
  /** The conversation as messages not yet read. */
  readonly turns: readonly Turn[];
  /** Absent where programs are not told by history, or this conversation cannot be. */
  readonly trail: Trail | undefined;
  /** What the answer will be remembered by, once a source has looked for it. */
  leaf: Leaf | undefined;

  constructor(request: IdentityRequest, sources: readonly Source[]) {
    this.request = request;
    this.isFinal = sources.includes('maitred') && saysFinal(request.headers);
    this.turns = request.facts?.conversation() ?? [];
    this.trail = sources.includes('history') ? Trail.of(this.turns) : undefined;
  }
}
