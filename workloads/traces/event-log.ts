import { TraceError } from './pieces.js';
import type { Reader, TraceRecord, Found } from './records.js';
import { readLogLine } from './log-line.js';
import { date, milliseconds, count } from './numbers.js';
import type { CallArrived, Command, Event, LogChange, LogLine, LogStep, Usage } from '../../src/index.js';
import { keptTokens, type AgentCall, type Prefix } from '../program.js';

/**
 * Programs that a gateway served, from its event log (`docs/JSON.md`), in the order in which they leave its table.
 * Those still in it come last. Memory grows with the programs in the table.
 *
 * - A call depends on its program's calls that had ended when it arrived, except those on which these depend
 *   themselves. A later call of a sub-agent's thread depends only on calls of that thread. Its gap is the time since
 *   the last of these ends. Calls are in the order of their ends.
 * - Tokens are the engine's counts if reported, else the gateway's. A call cancelled or lost during its answer has the
 *   tokens until then. Unanswered calls and calls that still run are left out.
 * - A prompt continues the call that ended last in its thread. Shared tokens are inferred from the lengths (see
 *   `keptTokens`); for a shorter prompt, from the engine's cached tokens. A thread's first prompt shares its cached
 *   tokens with other programs of its tenant and model.
 */
export const eventLog: Reader = async function* (records) {
  let programs: LoggedPrograms | undefined;
  for await (const record of records) {
    if (record instanceof TraceError) {
      yield record;
      continue;
    }
    const read = readLogLine(record.value);
    const line = 'problem' in read ? record.fault(read.field, read.problem) : read.value;
    if (programs === undefined) {
      const begun = line instanceof TraceError ? line : begin(line, record);
      if (begun instanceof TraceError) {
        // The meaning of the lines after it is unknown.
        yield begun;
        return;
      }
      programs = begun;
    } else if (line instanceof TraceError) yield line;
    else if ('maitredEventLog' in line) yield record.fault('maitredEventLog', 'a second header');
    else if (!('commands' in line)) continue;
    else if (!milliseconds.safeParse(line.now).success) yield record.fault('now', 'not a time');
    else yield* programs.take(line, record);
  }
  if (programs !== undefined) yield* programs.rest();
};

function begin(header: LogLine, record: TraceRecord): LoggedPrograms | TraceError {
  if (!('maitredEventLog' in header)) return record.fault('maitredEventLog', 'the log does not begin with its header');
  const startedAt = date.safeParse(header.startedAt);
  if (!startedAt.success) return record.fault('startedAt', 'not a date and time');
  return new LoggedPrograms(startedAt.data - header.now);
}

/** An ended call on which no other ended call depends. */
interface Ended {
  readonly index: number;
  readonly thread: string;
  readonly endedMs: number;
}

interface Logged {
  readonly id: string;
  readonly arrivedMs: number;
  /** The record of its first call. */
  readonly record: TraceRecord;
  readonly calls: AgentCall[];
  ended: readonly Ended[];
  /** The call that ended last in each thread. */
  readonly lastOf: Map<string, number>;
  running: number;
  isOver: boolean;
}

interface Running {
  readonly arrival: CallArrived;
  readonly program: Logged;
  readonly after: readonly Ended[];
  readonly gapMs: number;
  /** The call that its prompt continues. */
  readonly base: number | undefined;
  isAnswered: boolean;
  outputTokens: number;
}

/** The programs in a gateway's table, reconstructed from its log. */
export class LoggedPrograms {
  readonly #programs = new Map<string, Logged>();
  readonly #calls = new Map<string, Running>();
  #found: (Found | TraceError)[] = [];

  /** @param epochMs offset that makes times milliseconds since 1970 */
  constructor(private readonly epochMs: number) {}

  /** Takes the next line. Returns the programs that it completes. */
  take(line: LogStep | LogChange, record: TraceRecord): readonly (Found | TraceError)[] {
    this.#found = [];
    const fault = 'event' in line ? this.#happened(line.event, line.now, record) : undefined;
    if (fault !== undefined) this.#found.push(fault);
    for (const command of line.commands) this.#commanded(command);
    return this.#found;
  }

  /** The programs left at the end of the log. */
  rest(): readonly (Found | TraceError)[] {
    this.#found = [];
    for (const program of this.#programs.values()) this.#give(program);
    return this.#found;
  }

  #happened(event: Event, now: number, record: TraceRecord): TraceError | undefined {
    if (event.type === 'callArrived') return this.#arrive(event, now, record);
    if (event.type === 'programEnded') this.#leave(event.program);
    const call = 'call' in event ? this.#calls.get(event.call) : undefined;
    if (call === undefined) return undefined;
    if (event.type === 'callStarted') call.isAnswered = true;
    else if (event.type === 'callProgressed') {
      if (!isCount(event.outputTokens)) return record.fault('event.outputTokens', TOO_MANY);
      call.outputTokens = Math.max(call.outputTokens, event.outputTokens);
    } else if (event.type === 'callFinished') {
      const { promptTokens = 0, outputTokens = 0 } = event.usage ?? {};
      const isUsable = isCount(promptTokens) && isCount(outputTokens);
      this.#end(call, now, isUsable ? event : undefined);
      if (!isUsable) return record.fault('event.usage', TOO_MANY);
    } else if (event.type === 'callCancelled' || (event.type === 'callFailed' && event.failure === 'lost')) {
      this.#end(call, now, call.isAnswered ? {} : undefined);
    } else {
      // It failed before the first byte of its answer, and will be tried again.
      call.isAnswered = false;
      call.outputTokens = 0;
    }
    return undefined;
  }

  #commanded(command: Command): void {
    if (command.type === 'reject') {
      const call = this.#calls.get(command.call);
      if (call !== undefined) this.#end(call, NaN, undefined);
    } else if (command.type === 'programGone' && command.cause !== 'ended') this.#leave(command.program);
  }

  #arrive(arrival: CallArrived, now: number, record: TraceRecord): TraceError | undefined {
    if (this.#calls.has(arrival.call)) return record.fault('event.call', 'has come before');
    if (!isCount(arrival.promptTokens)) return record.fault('event.promptTokens', TOO_MANY);
    const { thread } = arrival;
    let program = this.#programs.get(arrival.program);
    if (program === undefined) {
      const id = `${arrival.program}@${record.place.number}`;
      program = { id, record, arrivedMs: now, calls: [], ended: [], lastOf: new Map(), running: 0, isOver: false };
      this.#programs.set(arrival.program, program);
    }
    const own = thread === '' ? [] : program.ended.filter((each) => each.thread === thread);
    const after = own.length > 0 ? own : program.ended;
    const readyMs = after.at(-1)?.endedMs ?? program.arrivedMs;
    // It depends on all ended calls, or else on all of `own`: in both cases on the call that its prompt continues.
    const base = own.at(-1)?.index ?? program.lastOf.get(thread);
    const gapMs = Math.max(0, Math.round(now - readyMs));
    this.#calls.set(arrival.call, { arrival, program, after, gapMs, base, isAnswered: false, outputTokens: 0 });
    program.running += 1;
    return undefined;
  }

  /** @param answer known facts of it; undefined: there was none */
  #end(call: Running, now: number, answer: { readonly usage?: Usage } | undefined): void {
    const { arrival, program } = call;
    this.#calls.delete(arrival.call);
    program.running -= 1;
    if (answer !== undefined) {
      const index = program.calls.push(agentCall(call, answer.usage)) - 1;
      const { thread } = arrival;
      const superseded = new Set(call.after);
      program.ended = [...program.ended.filter((each) => !superseded.has(each)), { index, thread, endedMs: now }];
      program.lastOf.set(thread, index);
    }
    if (program.running > 0) return;
    if (program.isOver) this.#give(program);
    // The gateway may never have had it in its table, and then does not report that it leaves.
    else if (program.calls.length === 0) this.#programs.delete(arrival.program);
  }

  #leave(id: string): void {
    const program = this.#programs.get(id);
    if (program === undefined) return;
    this.#programs.delete(id);
    program.isOver = true;
    if (program.running === 0) this.#give(program);
  }

  #give({ id, arrivedMs, calls, record }: Logged): void {
    if (calls.length === 0) return;
    const arrivalMs = Math.max(0, Math.round(this.epochMs + arrivedMs));
    this.#found.push({ program: { id, arrivalMs, calls }, record });
  }
}

const TOO_MANY = 'more tokens than are read';
const isCount = (value: number) => count.safeParse(value).success;

function agentCall(call: Running, usage: Usage | undefined): AgentCall {
  const { arrival, program, after, gapMs, base } = call;
  const promptTokens = usage?.promptTokens ?? arrival.promptTokens;
  const outputTokens = usage?.outputTokens ?? call.outputTokens;
  const cached = Math.min(usage?.cachedTokens ?? 0, promptTokens);
  const prefix = prefixOf(arrival, promptTokens, cached, base, program.calls);
  return {
    after: after.map(({ index }) => index),
    gapMs,
    thread: arrival.thread,
    promptTokens,
    outputTokens,
    ...(prefix.tokens > 0 && { prefix }),
  };
}

function prefixOf(
  { tenant, model, thread }: CallArrived,
  promptTokens: number,
  cached: number,
  base: number | undefined,
  calls: readonly AgentCall[],
): Prefix & { readonly tokens: number } {
  const before = base === undefined ? undefined : calls[base];
  if (base === undefined || before === undefined) {
    const kind = thread === '' ? 'root' : 'sub-agent';
    // A model may be named with the one engine that had to run the call, after a NUL.
    return { name: `event-log ${tenant} ${model.split('\0', 1)[0] ?? ''} ${kind}`, tokens: cached };
  }
  const kept = promptTokens < before.promptTokens ? 0 : keptTokens(before, promptTokens);
  return { call: base, tokens: Math.max(kept, Math.min(cached, before.promptTokens + before.outputTokens)) };
}
