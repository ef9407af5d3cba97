import { LRUCache } from 'lru-cache';
import type { Millis, ProgramId } from '../../src/index.js';
import type { Observer } from '../calls/observers.js';
import type { CallHandle, CallReport, CallSpec } from '../calls/spec.js';
import { ERRORS, type ErrorCode } from '../errors.js';

const PROGRAM_CALLS_MAX = 100;

/** A call that was refused before it was accepted has a report too. */
type Report = Omit<CallReport, 'outcome'> & { readonly outcome: CallReport['outcome'] | 'refused' };

export interface PastCall {
  readonly call: string;
  readonly thread: string;
  readonly model: string;
  /** On the driver's clock. */
  readonly endedAtMs: number;
  readonly report: Report;
}

/**
 * The latest calls of each program, for operators to see. The oldest programs are forgotten first, so a few busy
 * programs cannot displace the history of all others. A program's calls outlive its row in the process table.
 */
export class PastCalls implements Observer {
  readonly #programs: LRUCache<ProgramId, readonly PastCall[]> | undefined;

  /** @param callsMax most calls to remember in total; 0: none */
  constructor(private readonly callsMax: number) {
    if (callsMax > 0) this.#programs = new LRUCache({ maxSize: callsMax, sizeCalculation: (calls) => calls.length });
  }

  ended({ spec }: CallHandle, report: CallReport, nowMs: Millis): void {
    this.#add(spec, report, nowMs);
  }

  refused(spec: CallSpec, code: ErrorCode, nowMs: Millis): void {
    this.#add(spec, { ...REFUSED, status: ERRORS[code].status, code }, nowMs);
  }

  /** Oldest first. */
  of(program: ProgramId): readonly PastCall[] {
    return this.#programs?.peek(program) ?? [];
  }

  find(call: string): { readonly program: ProgramId; readonly past: PastCall } | undefined {
    for (const [program, calls] of this.#programs?.entries() ?? [])
      for (const past of calls) if (past.call === call) return { program, past };
    return undefined;
  }

  #add({ id, facts, identity, line }: CallSpec, report: Report, endedAtMs: number): void {
    if (line !== undefined) return;
    const { program, thread } = identity;
    const calls = [...this.of(program), { call: id, thread, model: facts.model, endedAtMs, report }];
    this.#programs?.set(program, calls.slice(-Math.min(PROGRAM_CALLS_MAX, this.callsMax)));
  }
}

/** A refused call was neither queued nor sent. */
const REFUSED = {
  outcome: 'refused',
  dispatch: undefined,
  attempts: 0,
  failures: [],
  waits: new Map<never, never>(),
  queueMs: 0,
  ttftMs: undefined,
  serviceMs: undefined,
  durationMs: 0,
  usage: undefined,
} as const;
