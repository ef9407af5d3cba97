import type { ProgramId, TenantId } from '../../src/index.js';
import type { AnswerFacts, CanonicalMessage, Turn } from '../apis/api.js';
import type { IDENTITY_SOURCES } from '../config/index.js';
import { Ends, Lineage, SharedCache, type Seat } from './memory.js';
import { cacheKeyClaim, CLAIMS, saysFinal, saysRetry, valueOf } from './claims.js';
import { hashOf } from './growing.js';
import { History, type Leaf } from './history.js';
import type { Activity, Claim, Identity, IdentityRequest } from './identity.js';
import { cleanId, labelOf, madeProgram, namedProgram } from './names.js';
import { answerKeys, doneTasks, responseKey, soughtBy, taskNames } from './shared-keys.js';
import type { Answered } from './seats.js';
import { digest, Trail, TURNS_MAX } from './trail.js';

export type { Identity, IdentityRequest } from './identity.js';

type Source = (typeof IDENTITY_SOURCES)[number];

export interface IdentifierOptions {
  /** Sources of ids; the first match wins. */
  readonly sources: readonly Source[];
  /** Number of answered conversations to remember; also bounds the links of sub-agents and the ends of programs. */
  readonly conversationsMax: number;
  readonly responsesMax: number;
  /** Idle time of an id after which a call without history begins a new program; 0: never. */
  readonly reuseMs: number;
  /** `undefined` for a program that the scheduler does not know, or has forgotten. */
  readonly activityOf: (program: ProgramId) => Activity | undefined;
  /** Makes an id for a program without one; must never repeat an id. */
  readonly newId: () => string;
  /** Receives the keys by which other gateways can find a call's program, and its names; undefined: there are no others. */
  readonly share?: ((tenant: TenantId, key: string, name: string) => void) | undefined;
}

interface Served extends Seat {
  readonly thread: string;
  /** Seat of its answer, if the answer is also known by its history. */
  readonly answered: Answered | undefined;
}

/** `final`: as the client declares; otherwise as the headers of the call do. */
type Found = Pick<Identity, 'program' | 'thread' | 'source'> & Partial<Pick<Identity, 'final' | 'renews'>>;

/** Unrelated calls at once that show a `prompt_cache_key` to be shared. Sub-agents send one UUID: Codex runs six. */
const SHARERS = { uuid: 8, other: 1 };
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Sources for which only the remembered answer may name the next call's program, or that of a sub-agent. */
const TOLD_BY_HISTORY: ReadonlySet<string> = new Set(['history', 'none', 'prompt_cache_key', 'previous_response_id']);
const NONE: ReadonlySet<string | number> = new Set();

/** Answers the question "which program does this call belong to?", from bounded memory. Never throws, for any input. */
export class Identifier {
  readonly #ends: Ends;
  readonly #lineage: Lineage;
  readonly #history: History;
  readonly #responses: SharedCache<Served>;
  /** Values of `prompt_cache_key` that do not identify a program. */
  readonly #sharedKeys: SharedCache<true>;
  /** Whether any call of the program contained an answer. */
  readonly #conversed: SharedCache<boolean>;

  constructor(private readonly options: IdentifierOptions) {
    this.#ends = new Ends(options.conversationsMax);
    this.#lineage = new Lineage(options.conversationsMax);
    this.#history = new History(options.conversationsMax, this.#ends);
    this.#responses = new SharedCache(options.responsesMax);
    this.#sharedKeys = new SharedCache(options.conversationsMax);
    this.#conversed = new SharedCache(options.conversationsMax);
  }

  identify(request: IdentityRequest): Identity {
    const call = new Call(request, this.options.sources);
    const found = this.#find(call) ??
      this.#before(call) ?? { program: madeProgram(request.tenant, this.options.newId()), thread: '', source: 'none' };
    const { program, thread, source, final = call.isFinal, renews = false } = found;
    const isTold = TOLD_BY_HISTORY.has(source);
    const { share } = this.options;
    // A key with two names has none.
    if (share && call.trail && isTold) for (const key of doneTasks(call.trail)) share(request.tenant, key, '');
    const isSought = share !== undefined && source === 'none' && request.before === undefined;
    const sought = isSought ? soughtBy(request.facts?.previousResponseId, call.trail) : undefined;
    const leaf = isTold ? call.leaf : undefined;
    return { program, label: labelOf(program), thread, final, source, leaf, renews, sought };
  }

  /** Remembers a whole answer, so that a call that continues it finds its program. */
  answered(
    { program, thread, leaf }: Identity,
    { tenant }: Pick<IdentityRequest, 'tenant'>,
    { responseId, message, further = [] }: AnswerFacts,
  ): void {
    const { share } = this.options;
    const remember = (leaf: Leaf, answer: CanonicalMessage): Answered => {
      const answered = this.#history.remember(tenant, leaf, answer, program);
      if (share === undefined) return answered;
      for (const key of answerKeys(answered, answer, leaf.foreign)) share(tenant, key, program);
      // Of a conversation that the engine keeps, no gateway would see that it goes on.
      if (responseId === undefined) for (const [key, name] of taskNames(answered, answer)) share(tenant, key, name);
      return answered;
    };
    const answered = leaf && message && remember(leaf, message);
    if (leaf) for (const answer of further) remember(leaf, answer);
    if (responseId === undefined) return;
    share?.(tenant, responseKey(responseId), program);
    this.#responses.set(tenant, responseId, { thread, answered, program, stamp: this.#ends.tick() });
  }

  /** Forgets all links to the program: a call that continues its answers is a new program. */
  ended(program: ProgramId): void {
    this.#ends.ended(program);
    this.#lineage.forget(program);
  }

  /** The program that a client of this tenant means by `id`; `undefined` if it cannot be an id. */
  named(tenant: TenantId, id: unknown): ProgramId | undefined {
    const clean = cleanId(id);
    return clean === undefined ? undefined : this.#lineage.rootOf(namedProgram(tenant, clean));
  }

  /** The program that headers alone name, of a request that was refused; one with an empty id if they name none. */
  claimed(tenant: TenantId, headers: IdentityRequest['headers']): ProgramId {
    const { sources } = this.options;
    const claims = sources.map((source) => (source === 'history' ? undefined : CLAIMS[source](headers, {})));
    return this.named(tenant, claims.find((claim) => claim !== undefined)?.id) ?? madeProgram(tenant, '');
  }

  #find(call: Call): Found | undefined {
    const { headers, body = {} } = call.request;
    for (const source of this.options.sources) {
      const found =
        source === 'history'
          ? (this.#before(call) ?? this.#fromHistory(call))
          : (this.#fromClaim(call, CLAIMS[source](headers, body)) ??
            (source === 'body' ? (this.#fromPreviousResponse(call) ?? this.#fromCacheKey(call)) : undefined));
      if (found) return found;
    }
    return undefined;
  }

  /** Identifies a repeated request by its first attempt, which has already taken the seat in its history. */
  #before(call: Call): Found | undefined {
    const { before } = call.request;
    if (before === undefined) return undefined;
    call.leaf = before.leaf;
    return { program: before.program, thread: before.thread, source: before.source };
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
      // The last call of a sub-agent's session does not end its root.
      final: isRoot && (call.isFinal || claim.final === true),
      source,
      renews: this.#isReused(call, root),
    };
  }

  /**
   * Whether the id is a reused old one: load testers call their conversations `conv_0` in every run. A program is over
   * when its calls had a history and this one has none. One-shot calls under one id never have one: they stay one.
   */
  #isReused(call: Call, program: ProgramId): boolean {
    const { tenant, headers } = call.request;
    if (call.turns.length === 0 || this.options.reuseMs === 0) return false;
    const goesOn = call.turns.some(({ role }) => role === 'assistant');
    if (goesOn) this.#conversed.set(tenant, program, true);
    if (goesOn || this.#conversed.get(tenant, program) !== true || saysRetry(headers)) return false;
    const activity = this.options.activityOf(program);
    if (activity && (activity.activeCalls > 0 || activity.idleMs < this.options.reuseMs)) return false;
    this.#conversed.set(tenant, program, false);
    return activity !== undefined;
  }

  /** A key shared by unrelated concurrent calls identifies no program. Then their histories decide. */
  #fromCacheKey(call: Call): Found | undefined {
    const { tenant, headers, body = {} } = call.request;
    const claim = cacheKeyClaim(body);
    if (!claim || !call.trail) return this.#fromClaim(call, claim);
    if (this.#sharedKeys.get(tenant, claim.id)) return undefined;
    const own = this.#lineage.rootOf(namedProgram(tenant, claim.id));
    const { program, leaf } = this.#history.find(tenant, call.trail, own);
    const sharers = UUID.test(claim.id) ? SHARERS.uuid : SHARERS.other;
    const active = this.options.activityOf(own)?.activeCalls ?? 0;
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
    if (answered) this.#history.take(answered);
    // The engine has the conversation. Its next answer is known by its marks, and sub-agents by their task.
    if (this.options.sources.includes('history')) {
      const opening = answered?.opening ?? 0;
      call.leaf = { chain: digest(id ?? ''), ids: '', last: 0, thread, opening, sender: call.sender, foreign: NONE };
    }
    return { program, thread, source: 'previous_response_id' };
  }

  #fromHistory(call: Call): Found | undefined {
    if (!call.trail) return undefined;
    const { program, leaf } = this.#history.find(call.request.tenant, call.trail);
    call.leaf = leaf;
    return program && { program, thread: leaf.thread, source: 'history' };
  }
}

/** A request with the facts that several sources need. */
class Call {
  readonly isFinal: boolean;
  readonly turns: readonly Turn[];
  readonly sender: number;
  /** Absent if history is no source, or the conversation cannot be matched. */
  readonly trail: Trail | undefined;
  leaf: Leaf | undefined;

  constructor(
    readonly request: IdentityRequest,
    sources: readonly Source[],
  ) {
    this.isFinal = sources.includes('maitred') && saysFinal(request.headers);
    this.turns = request.facts?.conversation() ?? [];
    this.sender = hashOf(valueOf(request.headers, 'user-agent') ?? '');
    const isMatched = sources.includes('history') && this.turns.length > 0 && this.turns.length <= TURNS_MAX;
    this.trail = isMatched ? new Trail(this.turns, this.sender) : undefined;
  }
}
