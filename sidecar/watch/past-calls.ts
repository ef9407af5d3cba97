import { LRUCache } from 'lru-cache';
import type { Millis, ProgramId } from '../../src/index.js';
import type { Observer } from '../calls/observers.js';
import type { CallHandle, CallReport, CallSpec } from '../calls/spec.js';
import { ERRORS, type ErrorCode, type GatewayError } from '../errors.js';

const PROGRAM_CALLS_MAX = 100;
const MESSAGE_CHARS_MAX = 300;

/** A call that was refused before it was accepted has a report too. */
type Report = Omit<CallReport, 'outcome'> & {
  readonly outcome: CallReport['outcome'] | 'refused';
};

export interface PastCall {
  readonly call: string;
  readonly requestId: string;
  readonly thread: string;
  readonly model: string;
  readonly isBackground: boolean;
  /** On the driver's clock. */
  readonly endedAtMs: number;
  readonly report: Report;
}

/** The latest calls of each program, which outlive its row. The oldest programs are forgotten first, so a busy one displaces no others. */
export class PastCalls implements Observer {
  readonly #programs: LRUCache<ProgramId, readonly PastCall[]> | undefined;

  /** @param callsMax most calls to remember in total; 0: none */
  constructor(private readonly callsMax: number) {
    if (callsMax > 0) this.#programs = new LRUCache({ maxSize: callsMax, sizeCalculation: (calls) => calls.length });
  }

  ended({ spec }: CallHandle, report: CallReport, nowMs: Millis): void {
    this.#addCall(spec, report, nowMs);
  }

  refused(spec: CallSpec, code: ErrorCode, nowMs: Millis, message: string): void {
    this.#addCall(spec, { ...REFUSED, status: ERRORS[code].status, code, message }, nowMs);
  }

  /** A request that became no call, so that its own id stands for the call's. */
  turnedAway(program: ProgramId, requestId: string, { status, code, message }: GatewayError, endedAtMs: Millis): void {
    const report = { ...REFUSED, status, code, message: message.slice(0, MESSAGE_CHARS_MAX) };
    this.#add(program, { call: requestId, requestId, thread: '', model: '', isBackground: false, endedAtMs, report });
  }

  /** Oldest first. */
  of(program: ProgramId): readonly PastCall[] {
    return this.#programs?.peek(program) ?? [];
  }

  /** By its id, or else the last one by that of its request, which clients may choose. */
  find(id: string): { readonly program: ProgramId; readonly past: PastCall } | undefined {
    const found: { readonly program: ProgramId; readonly past: PastCall }[] = [];
    for (const [program, calls] of this.#programs?.entries() ?? [])
      for (const past of calls) if (past.call === id || past.requestId === id) found.push({ program, past });
    const isCall = ({ past: { call, requestId } }: (typeof found)[0]) => call === id && requestId !== id;
    return found.find(isCall) ?? found.sort((a, b) => a.past.endedAtMs - b.past.endedAtMs).at(-1);
  }

  #addCall({ id, requestId, facts, identity, line, isBackground }: CallSpec, report: Report, endedAtMs: number): void {
    const { program, thread } = identity;
    if (line === undefined)
      this.#add(program, { call: id, requestId, thread, model: facts.model, isBackground, endedAtMs, report });
  }

  #add(program: ProgramId, call: PastCall): void {
    const calls = [...this.of(program), call];
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
  wasRunning: false,
  hungMs: 0,
  usage: undefined,
} as const;
