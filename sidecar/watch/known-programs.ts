import type { Dispatch, Millis, ProgramGone, ProgramId, ProgramView } from '../../src/index.js';
import { BUDGET_HEADER, type Bound } from '../calls/budget.js';
import type { Observer } from '../calls/observers.js';
import type { CallReport, CallSpec } from '../calls/spec.js';
import { valueOf } from '../identity/claims.js';

export const ENDED_MAX = 500;
/** Threads of one program to count separately; calls of further ones count as the root's. */
const THREADS_MAX = 256;

type Heard = Pick<CallSpec, 'identity' | 'facts' | 'family' | 'workflow' | 'headers' | 'line' | 'isBackground'>;

/** A program in the words of its calls. */
export class Told {
  agentType: string | undefined;
  engine: string | undefined;
  /** The headers of its last call. */
  budget: string | undefined;
  /** The bounds of which its model has been told. */
  readonly warned = new Set<Bound>();
  workflow: string | undefined;
  /** Of its calls that have ended here. */
  readonly tokens = { prompt: 0, output: 0 };
  /** Time of these from arrival to end. */
  callsMs = 0;
  /** Whether its last call to end or to be refused was answered. */
  isAnswered = false;
  /** Whether nobody waits for its last call: a line of a batch, or one that takes only room that others leave. */
  isBackground = false;
  /** Calls that have not ended. */
  activeCalls = 0;
  /** Calls of each sub-agent; a program without sub-agents uses no memory. */
  threads: Map<string, number> | undefined;
  /** Another gateway has it: its end is told there. */
  hasMoved = false;
  /** An operator ends it. */
  isStopped = false;

  constructor(
    public model: string,
    public identifiedBy: string,
  ) {}
}

export interface EndedProgram {
  readonly gone: ProgramGone;
  readonly told: Told | undefined;
  readonly endedAtMs: Millis;
}

/** The programs of the table in their clients' words, those that end with their last calls, and the last that have ended. */
export class KnownPrograms implements Observer {
  readonly #told = new Map<ProgramId, Told>();
  /** Of each name that was ended while calls ran, the first to be ended first: it may have begun anew since. */
  readonly #ending = new Map<ProgramId, Told[]>();
  readonly #ended: EndedProgram[] = [];
  /** The program of each call. */
  readonly #toldBy = new WeakMap<object, Told>();

  accepted({ spec }: { readonly spec: Heard }): void {
    const { identity, facts, family, workflow, headers } = spec;
    const { program, source } = identity;
    let told = this.#told.get(program);
    if (told === undefined) this.#told.set(program, (told = new Told(facts.model, source)));
    this.#toldBy.set(spec, told);
    told.activeCalls += 1;
    told.model = facts.model;
    told.identifiedBy = source;
    told.agentType = workflow ?? told.agentType ?? family?.id.toString(16).padStart(8, '0');
    told.budget = valueOf(headers, BUDGET_HEADER);
    told.workflow = workflow;
    told.isBackground = isBackground(spec);
    told.hasMoved = false;
    count(told, identity.thread);
  }

  dispatched(spec: object, { engine }: Pick<Dispatch, 'engine'>): void {
    const told = this.#toldBy.get(spec);
    if (told !== undefined) told.engine = engine;
  }

  refused({ identity }: Pick<Heard, 'identity'>): void {
    const told = this.#told.get(identity.program);
    if (told !== undefined) told.isAnswered = false;
  }

  ended(
    { spec }: { readonly spec: Pick<CallSpec, 'warned'> },
    { usage, outcome, durationMs }: Pick<CallReport, 'usage' | 'outcome' | 'durationMs'>,
  ): void {
    const told = this.#toldBy.get(spec);
    this.#toldBy.delete(spec);
    if (told === undefined) return;
    told.activeCalls -= 1;
    told.isAnswered = outcome === 'completed';
    if (told.isAnswered) for (const { key } of spec.warned) told.warned.add(key);
    told.callsMs += durationMs;
    told.tokens.prompt += usage?.promptTokens ?? 0;
    told.tokens.output += usage?.outputTokens ?? 0;
  }

  /** Its calls come to another gateway now, until one comes here again. */
  moved(program: ProgramId): void {
    const told = this.#told.get(program);
    if (told !== undefined) told.hasMoved = true;
  }

  programEnded(program: ProgramId, by?: 'operator'): void {
    const told = this.#told.get(program);
    if (told === undefined) return;
    told.isStopped = by !== undefined;
    this.#told.delete(program);
    this.#ending.set(program, [...(this.#ending.get(program) ?? []), told]);
  }

  programGone(gone: ProgramGone, nowMs: Millis): void {
    const { program } = gone;
    const told = this.leaving(gone);
    const ending = this.#ending.get(program) ?? [];
    const at = ending.findIndex((each) => each === told);
    if (at >= 0) ending.splice(at, 1);
    else this.#told.delete(program);
    if (ending.length === 0) this.#ending.delete(program);
    if (told?.hasMoved) return;
    this.#ended.push({ gone, told, endedAtMs: nowMs });
    if (this.#ended.length > ENDED_MAX) this.#ended.shift();
  }

  /** The one that goes, while it is known: not another that has begun under its name. */
  leaving({ program, cause }: ProgramGone): Told | undefined {
    const present = this.#told.get(program);
    const ending = this.#ending.get(program) ?? [];
    // The end of a last call is told a moment later; one without calls goes as soon as it is ended.
    const first = ending.find(({ activeCalls }) => activeCalls === 0) ?? ending[0] ?? present;
    return cause === 'ended' ? first : (present ?? first);
  }

  /** @param removed of one that has left the table, and still has calls */
  of({ id, removed }: Pick<ProgramView, 'id' | 'removed'>): Told | undefined {
    return (removed === undefined ? undefined : this.#ending.get(id)?.[0]) ?? this.#told.get(id);
  }

  /** The last to end first. */
  lastEnded(): readonly EndedProgram[] {
    return this.#ended.toReversed();
  }
}

export const isBackground = (spec: Pick<CallSpec, 'line' | 'isBackground'>): boolean =>
  spec.isBackground || spec.line !== undefined;

function count(told: Told, thread: string): void {
  if (thread === '') return;
  told.threads ??= new Map<string, number>();
  const made = told.threads.get(thread) ?? 0;
  if (made > 0 || told.threads.size < THREADS_MAX) told.threads.set(thread, made + 1);
}
