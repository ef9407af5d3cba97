import type { CallId, Command, Event, Policy, ProgramId } from '../../src/index.js';

const HALF_LIFE_MS = 60_000;
/** Weight of an output token over a prompt token. */
const OUTPUT_WEIGHT = 2;
const SERVICE_SHARE = 0.8;
const WAIT_SHARE = 0.2;
/** Units of service and of waiting: the tokens that a busy agent uses in a half-life, and the half-life. */
const SERVICE_UNIT_TOKENS = 32_768;
const WAIT_UNIT_MS = HALF_LIFE_MS;

interface ActiveCall {
  readonly program: ProgramId;
  readonly promptTokens: number;
  isRunning: boolean;
}

/**
 * Least attained service with forgetting, after llm-d's program-aware fairness. It weighs tokens (prompt + 2 x
 * completion), which fade with a half-life of 60 s, against the wait of the head call:
 *     score = 0.8 x tokens / 32768 - 0.2 x wait / 60 s,      lowest first.
 * Waiting adds the same to every call each second, so it never changes the order of two calls. The score is therefore
 * ranked once, on arrival, as 0.8 x tokens + 0.2 x arrival. Level 0 is reserved for promotions.
 *
 * The core charges engine time alone, so this policy counts tokens itself: it must be told each step.
 */
export class LasDecayed implements Policy {
  readonly name = 'las-decayed';
  readonly admits = true;
  readonly levels = 2;
  readonly #calls = new Map<CallId, ActiveCall>();
  readonly #charged = new Map<ProgramId, Readonly<Record<'tokens' | 'atMs', number>>>();

  readonly stand: Policy['stand'] = ({ arrivedAtMs }, { id }, nowMs) => {
    const service = (SERVICE_SHARE * this.#fadedTokens(id, nowMs)) / SERVICE_UNIT_TOKENS;
    return { level: 1, rank: service + (WAIT_SHARE * arrivedAtMs) / WAIT_UNIT_MS };
  };

  /** The scheduler has taken this step. Its commands come before the next one. */
  stepped(event: Event, commands: readonly Command[], nowMs: number): void {
    if (event.type === 'callArrived') this.#calls.set(event.call, { ...event, isRunning: false });
    else if (event.type === 'callFinished') this.#end(event.call, nowMs, event.usage);
    else if (event.type === 'callCancelled') this.#end(event.call, nowMs);
    else if (event.type === 'callFailed') {
      if (event.failure === 'lost') this.#end(event.call, nowMs);
      else this.#setRunning(event.call, false);
      if (event.failure === 'refused') this.#calls.delete(event.call);
    }
    for (const command of commands) {
      if (command.type === 'dispatch') this.#setRunning(command.call, true);
      else if (command.type === 'reject') this.#calls.delete(command.call);
      else if (command.type === 'programGone') this.#charged.delete(command.program);
    }
  }

  #setRunning(id: CallId, isRunning: boolean): void {
    const call = this.#calls.get(id);
    if (call !== undefined) call.isRunning = isRunning;
  }

  /** A call that has run is charged what its engine reported, or else its prompt. */
  #end(id: CallId, nowMs: number, usage?: { readonly promptTokens: number; readonly outputTokens: number }): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (call?.isRunning !== true) return;
    const { promptTokens, outputTokens } = usage ?? { promptTokens: call.promptTokens, outputTokens: 0 };
    const tokens = this.#fadedTokens(call.program, nowMs) + promptTokens + OUTPUT_WEIGHT * outputTokens;
    this.#charged.set(call.program, { tokens, atMs: nowMs });
  }

  #fadedTokens(program: ProgramId, nowMs: number): number {
    const { tokens, atMs } = this.#charged.get(program) ?? { tokens: 0, atMs: nowMs };
    return tokens * Math.exp((Math.LN2 * (atMs - nowMs)) / HALF_LIFE_MS);
  }
}
