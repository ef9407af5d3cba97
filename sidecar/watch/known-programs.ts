import type { Dispatch, Millis, ProgramGone, ProgramId } from '../../src/index.js';
import { BUDGET_HEADER } from '../calls/budget.js';
import type { Observer } from '../calls/observers.js';
import type { CallReport, CallSpec } from '../calls/spec.js';
import { valueOf } from '../identity/claims.js';

export const ENDED_MAX = 500;
/** Threads of one program to count separately; calls of further ones count as the root's. */
const THREADS_MAX = 256;
/** Calls whose source is remembered: enough for a share, and few enough to forget a client's old settings soon. */
const SOURCES_MAX = 512;

type Heard = Pick<CallSpec, 'identity' | 'facts' | 'family' | 'workflow' | 'headers'>;

/** A program in the words of its calls. */
export interface Told {
  readonly model: string;
  readonly identifiedBy: string;
  readonly agentType: string | undefined;
  readonly engine: string | undefined;
  /** The header of its last call. */
  readonly budget: string | undefined;
  /** Of its calls that have ended here. */
  readonly tokens: { prompt: number; output: number };
  /** Another gateway has it: its end is told there. */
  readonly hasMoved?: true;
  /** An operator ends it. */
  readonly isStopped?: true;
}

export interface EndedProgram {
  readonly gone: ProgramGone;
  readonly told: Told | undefined;
  readonly endedAtMs: Millis;
}

/** The programs of the table in their clients' words, and the last that have left it. */
export class KnownPrograms implements Observer {
  readonly #told = new Map<ProgramId, Told>();
  readonly #ended: EndedProgram[] = [];
  /** Calls of each sub-agent; programs without sub-agents use no memory. */
  readonly #threads = new Map<ProgramId, Map<string, number>>();
  readonly #sources: string[] = [];
  /** Where the tokens of each call count: its program may have ended before it, and begun anew. */
  readonly #tokensOf = new WeakMap<object, Told['tokens']>();

  accepted({ spec }: { readonly spec: Heard }): void {
    const { identity, facts, family, workflow, headers } = spec;
    const before = this.#told.get(identity.program);
    const tokens = before?.tokens ?? { prompt: 0, output: 0 };
    this.#tokensOf.set(spec, tokens);
    this.#told.set(identity.program, {
      model: facts.model,
      identifiedBy: identity.source,
      agentType: workflow ?? before?.agentType ?? family?.id.toString(16).padStart(8, '0'),
      engine: before?.engine,
      budget: valueOf(headers, BUDGET_HEADER),
      tokens,
    });
    this.#count(identity);
    this.#sources.push(identity.source);
    if (this.#sources.length > SOURCES_MAX) this.#sources.shift();
  }

  dispatched({ identity }: Pick<CallSpec, 'identity'>, { engine }: Pick<Dispatch, 'engine'>): void {
    const told = this.#told.get(identity.program);
    if (told !== undefined && told.engine !== engine) this.#told.set(identity.program, { ...told, engine });
  }

  ended({ spec }: { readonly spec: object }, { usage }: Pick<CallReport, 'usage'>): void {
    const tokens = this.#tokensOf.get(spec);
    this.#tokensOf.delete(spec);
    if (tokens === undefined || usage === undefined) return;
    tokens.prompt += usage.promptTokens;
    tokens.output += usage.outputTokens;
  }

  /** Its calls come to another gateway now, until one comes here again. */
  moved(program: ProgramId): void {
    const told = this.#told.get(program);
    if (told !== undefined) this.#told.set(program, { ...told, hasMoved: true });
  }

  programEnded(program: ProgramId, by?: 'operator'): void {
    const told = this.#told.get(program);
    if (told !== undefined && by !== undefined) this.#told.set(program, { ...told, isStopped: true });
  }

  programGone(gone: ProgramGone, nowMs: Millis): void {
    const told = this.#told.get(gone.program);
    this.#told.delete(gone.program);
    this.#threads.delete(gone.program);
    if (told?.hasMoved) return;
    this.#ended.push({ gone, told, endedAtMs: nowMs });
    if (this.#ended.length > ENDED_MAX) this.#ended.shift();
  }

  of(program: ProgramId): Told | undefined {
    return this.#told.get(program);
  }

  /** Sources that named the programs of the last calls, with their calls: the most frequent first. */
  sources(): readonly (readonly [source: string, calls: number])[] {
    const counts = new Map<string, number>();
    for (const source of this.#sources) counts.set(source, (counts.get(source) ?? 0) + 1);
    return [...counts].sort(([, a], [, b]) => b - a);
  }

  threadsOf(program: ProgramId): ReadonlyMap<string, number> {
    return this.#threads.get(program) ?? new Map<string, number>();
  }

  /** The last to end first. */
  lastEnded(): readonly EndedProgram[] {
    return this.#ended.toReversed();
  }

  #count({ program, thread }: Pick<CallSpec['identity'], 'program' | 'thread'>): void {
    if (thread === '') return;
    const calls = this.#threads.get(program) ?? new Map<string, number>();
    const made = calls.get(thread) ?? 0;
    if (made > 0 || calls.size < THREADS_MAX) this.#threads.set(program, calls.set(thread, made + 1));
  }
}
