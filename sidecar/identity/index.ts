import { LRUCache } from 'lru-cache';
import type { ProgramId, TenantId } from '../../src/index.js';
import type { AnswerFacts } from '../apis/api.js';
import type { IDENTITY_SOURCES } from '../config/schema.js';
import { Ends } from './ends.js';
import type { Seat } from './ends.js';
import { fieldClaim, programIdClaim } from './fields.js';
import { harnessClaim, maitredClaim, saysFinal } from './harnesses.js';
import { History, leafOf, trailOf } from './history.js';
import type { Trail } from './history.js';
import type { Claim, Identifier, Identity, IdentityRequest } from './identity.js';
import { Lineage } from './lineage.js';
import { cleanId, labelOf, madeProgram, namedProgram } from './names.js';
import { baggageClaim, traceparentClaim } from './tracing.js';

export type { Identifier, Identity, IdentityRequest } from './identity.js';

type Source = (typeof IDENTITY_SOURCES)[number];

export interface IdentifierOptions {
  /** Where ids are looked for, first match wins. */
  readonly sources: readonly Source[];
  /** Answered conversations remembered; also bounds the links of sub-agents and the ends of programs. */
  readonly conversationsMax: number;
  /** Ids of served responses remembered. */
  readonly responsesMax: number;
  /** Makes the id of a program that has none; must never return the same one twice. */
  readonly newId: () => string;
}

export const createIdentifier = (options: IdentifierOptions): Identifier => new ProgramIdentifier(options);

/** A response that was served. */
interface Turn extends Seat {
  readonly thread: string;
  /** Where its conversation stands, if it is also known by its history. */
  readonly place: string | undefined;
}

type Found = Pick<Identity, 'program' | 'thread' | 'final' | 'source'>;

class ProgramIdentifier implements Identifier {
  readonly #options: IdentifierOptions;
  readonly #ends: Ends;
  readonly #lineage: Lineage;
  readonly #history: History;
  readonly #responses: LRUCache<string, Turn>;

  constructor(options: IdentifierOptions) {
    this.#options = options;
    this.#ends = new Ends(options.conversationsMax);
    this.#lineage = new Lineage(options.conversationsMax);
    this.#history = new History(options.conversationsMax, this.#ends);
    this.#responses = new LRUCache({ max: options.responsesMax });
  }

  identify(request: IdentityRequest): Identity {
    const call = new Call(request, this.#options.sources);
    const found = this.#find(call) ?? this.#before(call) ?? this.#unknown(call);
    const trail = found.source === 'history' || found.source === 'none' ? call.trail : undefined;
    return {
      label: labelOf(found.program),
      wantsAnswer: trail !== undefined,
      ...found,
      ...(trail && { leaf: leafOf(trail) }),
    };
  }

  answered(
    { program, thread, leaf }: Identity,
    { tenant }: Pick<IdentityRequest, 'tenant'>,
    { responseId, message }: AnswerFacts,
  ): void {
    const place = leaf && message && this.#history.remember(tenant, leaf, message, program);
    if (responseId === undefined) return;
    this.#responses.set(responseKey(tenant, responseId), { thread, place, ...this.#ends.seat(program) });
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
        return this.#fromClaim(call, fieldClaim(body)) ?? this.#fromPreviousResponse(call);
      case 'baggage':
        return this.#fromClaim(call, baggageClaim(headers));
      case 'traceparent':
        return this.#fromClaim(call, traceparentClaim(headers));
      case 'history':
        return this.#before(call) ?? this.#fromHistory(call);
    }
  }

  /** A repetition goes on from nowhere: its history has been taken up by its first try. */
  #before({ request, isFinal }: Call): Found | undefined {
    const { program, thread, source } = request.before ?? {};
    if (program === undefined || thread === undefined || source === undefined) return undefined;
    return { program, thread, final: isFinal, source };
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
    };
  }

  #fromPreviousResponse(call: Call): Found | undefined {
    const id = call.request.facts?.previousResponseId;
    const turn = id === undefined ? undefined : this.#responses.get(responseKey(call.request.tenant, id));
    if (!turn || !this.#ends.isAlive(turn)) return undefined;
    const { program, thread, place } = turn;
    if (place !== undefined) this.#history.leave(place, program);
    return { program, thread, final: call.isFinal, source: 'previous_response_id' };
  }

  #fromHistory(call: Call): Found | undefined {
    const program = call.trail && this.#history.find(call.trail);
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
  readonly #matchesHistory: boolean;
  #trail: Trail | undefined;

  constructor(request: IdentityRequest, sources: readonly Source[]) {
    this.request = request;
    this.isFinal = sources.includes('maitred') && saysFinal(request.headers);
    this.#matchesHistory = sources.includes('history');
  }

  /** The hashed conversation; absent where it cannot be matched. Hashed when first asked for. */
  get trail(): Trail | undefined {
    if (!this.#matchesHistory) return undefined;
    return (this.#trail ??= trailOf(this.request.tenant, this.request.facts?.conversation() ?? []));
  }
}

const responseKey = (tenant: TenantId, id: string): string => `${tenant}\u0000${id}`;
