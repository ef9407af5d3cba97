import { open, type FileHandle } from 'node:fs/promises';
import { BadAnswer, fill, holds, ITEM, itemsOf, requestOf, type BatchLine } from '../../plans/index.js';
import type { EngineId } from '../../src/index.js';
import { isAbsent, isObject, parseJson } from '../apis/fields.js';
import { refusalOf } from '../calls/refusal.js';
import type { Input } from './input.js';
import { NOWHERE, readAt } from './line-file.js';
import { parseLine } from './lines.js';
import { Progress } from './progress.js';
import { wholeLine, type End, type Results, type Task } from './results.js';

export interface LineRequest extends Pick<Part, 'engine' | 'isLate'> {
  readonly id: string;
  readonly url: string;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** To be called when an engine has it, and when it waits again. */
  readonly waits: (isWaiting: boolean) => void;
  /** While it waits, it is not to be sent any more once this is aborted. */
  readonly signal: AbortSignal;
}

export interface LineAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** Whether the server had no room: the line is asked again, however often. */
  readonly isBusy: boolean;
  /** Whether the model that it lacks may come up. */
  readonly mayCome?: boolean;
}

/** A part of a batch in its order, and the engine that runs it: prompts that begin alike then meet one cache. */
export interface Part {
  /** Undefined: any. */
  readonly engine: EngineId | undefined;
  readonly at: number;
  readonly of: number;
  /** Whether its lines are calls like all others, and not in the background. */
  readonly isLate: boolean;
}

/** All of a batch, on any engine. */
export const WHOLE: Part = { engine: undefined, at: 0, of: 1, isLate: false };

export interface RunPorts {
  /** Undefined: the call was not sent, as the batch or the sender ends, and stays pending. */
  readonly ask: (request: LineRequest) => Promise<LineAnswer | undefined>;
  /** Lines may be ready, or all are done. */
  readonly changed: () => void;
  readonly setTimer: (fn: () => void, ms: number) => () => void;
}

/** A line that pauses before it is asked again. */
export interface Pause {
  /** From 1. */
  readonly line: number;
  /** Why: the answer that it got. */
  readonly message: string;
  readonly afterMs: number;
  /** Further attempts; undefined: without limit, until the window ends. */
  readonly attemptsLeft: number | undefined;
}

/** Refusals that the next attempt may not meet; all others of a client's making are final. */
const PASSING = new Set([408, 409, 425]);
const NOT_IMPLEMENTED = 501;
/** Attempts of a line that a server fails. */
const ATTEMPTS_MAX = 5;
/** Pause before the next attempt, which doubles with each failure. */
const PAUSE_MS = 1000;
/** Pause after a fault of the disk or of ours. */
const FAULT_PAUSE_MS = 5000;

const failure = (code: string, message: string) => ({
  state: 'failed' as const,
  response: null,
  error: { code, message },
});

const NO_ANSWER = failure('invalid_answer', 'The server answered 200 with an error, or without a JSON object.');
const LEFT_OUT: End = {
  ...failure('condition_not_met', "The line's condition did not hold, so it was not asked."),
  state: 'completed',
};

/** A batch under way: its lines start in the plan's order, once all that they need is there. A failed line fails those that need it. */
export class Run {
  readonly #progress: Progress;
  /** Calls of lines with `each` that may start. */
  readonly #items: Task[] = [];
  /** Attempts that a server has failed, by the call's id. */
  readonly #attempts = new Map<string, number>();
  /** Calls that pause, in order, by what cancels their timers. */
  readonly #timers = new Map<() => void, Pause>();
  /** Give up the calls that are sent, if they wait for an engine. */
  readonly #sent = new Set<AbortController>();
  #isStopped = false;
  readonly #onIdle: (() => void)[] = [];
  inFlight = 0;

  private constructor(
    readonly name: string,
    private readonly handle: FileHandle,
    readonly input: Input,
    readonly results: Results,
    private readonly ports: RunPorts,
  ) {
    this.#progress = new Progress(input, (index) => results.stateOf(index));
  }

  static async open(name: string, path: string, input: Input, results: Results, ports: RunPorts): Promise<Run> {
    const run = new Run(name, await open(path, 'r'), input, results, ports);
    // Results of an earlier process count as if they had just come.
    const ended = [...input.needs.keys()].filter((index) => results.stateOf(index) !== 'pending');
    for (const index of ended) run.#progress.done(index);
    for (const index of ended) await run.#failNext(index);
    return run;
  }

  get isReady(): boolean {
    return !this.#isStopped && this.ready > 0;
  }

  get isDone(): boolean {
    return this.results.pending === 0 && this.inFlight === 0;
  }

  /** How many calls pause, and the last of them. */
  get pauses(): { readonly calls: number; readonly last: Pause } | undefined {
    const last = [...this.#timers.values()].at(-1);
    return last && { calls: this.#timers.size, last };
  }

  /** Calls that have all answers that they need, and have not started. */
  get ready(): number {
    return this.#progress.ready + this.#items.length;
  }

  /** Starts the next ready line of a part, or the last of all. It never rejects. @returns once that has ended, with a fault of ours if any */
  async startNext(waits: LineRequest['waits'] = () => undefined, part = WHOLE): Promise<unknown> {
    const { at, of } = part;
    const index = this.#items.length > 0 ? undefined : this.#progress.take(at / of, (at + 1) / of);
    const task = index === undefined ? this.#items.shift() : wholeLine(index);
    if (task === undefined || this.results.stateOf(task.index) !== 'pending') return undefined;
    this.inFlight += 1;
    try {
      const line = await this.#lineAt(task.index);
      const end = await this.#run(task, line, waits, part);
      if (end !== undefined) await this.#end(task, line, end);
      return undefined;
    } catch (fault) {
      this.#later(task, FAULT_PAUSE_MS, 'The gateway failed; its log says why.');
      return fault;
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) for (const tell of this.#onIdle.splice(0)) tell();
      this.ports.changed();
    }
  }

  /** Starts no further line, and waits for those that engines have. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.recall();
    for (const cancel of this.#timers.keys()) cancel();
    if (this.inFlight > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Takes back the calls that wait for an engine: they are ready again. */
  recall(): void {
    for (const call of this.#sent) call.abort();
  }

  async failRest(code: string, message: string): Promise<void> {
    for (const index of this.input.needs.keys()) {
      if (this.results.stateOf(index) !== 'pending') continue;
      const { customId } = await this.#lineAt(index);
      for (const task of this.results.missing(index))
        await this.results.keep(task, nameOf(task, customId), failure(code, message));
    }
  }

  async close(): Promise<void> {
    await this.stop();
    await Promise.all([this.handle.close(), this.results.close()]);
  }

  async #lineAt(index: number): Promise<BatchLine> {
    const line = parseLine(await readAt(this.handle, this.input.lines[index] ?? NOWHERE), 0);
    if ('customId' in line) return line;
    throw new Error(`the input file has changed: ${line[0]?.message}`);
  }

  /** Undefined: the line has no end yet, or becomes a list of calls. */
  async #run(
    task: Task,
    line: BatchLine,
    waits: LineRequest['waits'],
    { engine, isLate }: Part,
  ): Promise<End | undefined> {
    const { index } = task;
    const id = this.results.idOf(task);
    const ended = (status: number, answer: unknown): End => ({
      state: status === 200 ? 'completed' : 'failed',
      response: { status_code: status, request_id: id, body: answer },
      error: null,
    });
    const original = this.input.originals[index] ?? index;
    const isCopy = original !== index && this.results.stateOf(original) === 'completed';
    if (isCopy && requestOf(await this.#lineAt(original)) === requestOf(line))
      return ended(200, await this.results.answerOf(original));
    const body = await this.#bodyOf(task, line);
    if (!Buffer.isBuffer(body)) return body;
    const headers = this.#progress.headersOf(index, this.name, this.results.leftOf(index) === 1);
    if (this.#isStopped) return undefined;
    const call = new AbortController();
    this.#sent.add(call);
    const { url } = line;
    const answer = await this.ports.ask({ id, url, body, headers, engine, isLate, waits, signal: call.signal });
    this.#sent.delete(call);
    if (answer === undefined) return call.signal.aborted ? this.#again(task) : undefined;
    const { status, isBusy, mayCome = false } = answer;
    const text = answer.body.toString();
    const value = parseJson(text);
    // A page for people, say, or an error is no answer.
    const isNoAnswer = status === 200 && (!isObject(value) || !isAbsent(value['error']));
    const said = (): string =>
      isNoAnswer ? NO_ANSWER.error.message : refusalOf(status, answer.body, { path: line.url, isTold: true }).message;
    if (isBusy) return this.#later(task, PAUSE_MS, said());
    if ((status >= 500 && status !== NOT_IMPLEMENTED) || isNoAnswer || mayCome || PASSING.has(status)) {
      const attempts = 1 + (this.#attempts.get(id) ?? 0);
      this.#attempts.set(id, attempts);
      if (attempts < ATTEMPTS_MAX)
        return this.#later(task, PAUSE_MS * 2 ** (attempts - 1), said(), ATTEMPTS_MAX - attempts);
    }
    if (isNoAnswer) return NO_ANSWER;
    return ended(status, value === undefined ? text : value);
  }

  /** The line's end if it is not to be asked; undefined: it becomes a list of calls. */
  async #bodyOf({ index, item, of }: Task, line: BatchLine): Promise<Buffer | End | undefined> {
    const { after, body, needs, each, condition } = line;
    if (needs.length === 0) return Buffer.from(JSON.stringify(body));
    const answers = new Map<string, unknown>();
    for (const [at, name] of needs.entries())
      answers.set(name, await this.results.answerOf(this.input.needs[index]?.[at] ?? 0));
    try {
      if (condition !== undefined && !holds(condition, answers.get(condition.$ref))) return LEFT_OUT;
      const items = each && itemsOf(answers.get(each.$ref), each);
      if (items !== undefined && of === 0) {
        // Some may have results of an earlier process.
        this.#items.push(...this.results.expand(index, items.length));
        if (items.length === 0) this.#progress.done(index);
        return undefined;
      }
      if (items !== undefined) answers.set(ITEM, items[item]);
      return Buffer.from(JSON.stringify(fill(body, after, (id) => answers.get(id))));
    } catch (error) {
      if (error instanceof BadAnswer) return failure(error.code, error.message);
      throw error;
    }
  }

  #again(task: Task): undefined {
    if (task.of === 0) this.#progress.add(task.index);
    else this.#items.push(task);
  }

  #later(task: Task, ms: number, message: string, attemptsLeft?: number): undefined {
    if (this.#isStopped) return;
    const pause = { line: this.input.lines[task.index]?.line ?? 0, message, afterMs: ms, attemptsLeft };
    const cancel = this.ports.setTimer(() => {
      this.#timers.delete(cancel);
      this.#again(task);
      this.ports.changed();
    }, ms);
    this.#timers.set(cancel, pause);
  }

  async #end(task: Task, { customId }: BatchLine, end: End): Promise<void> {
    if (!(await this.results.keep(task, nameOf(task, customId), end))) return;
    this.#progress.done(task.index);
    await this.#failNext(task.index);
  }

  /** A failed line fails those that need it, and they those that need them. */
  async #failNext(first: number): Promise<void> {
    const ended = [first];
    for (const index of ended) {
      const dependents = this.input.dependents[index] ?? [];
      if (this.results.stateOf(index) !== 'failed' || dependents.length === 0) continue;
      const { customId } = await this.#lineAt(index);
      const end = failure('dependency_failed', `The line "${customId}" failed, whose answer this one needs.`);
      for (const next of dependents) {
        const { customId: name } = await this.#lineAt(next);
        if (!(await this.results.keep(wholeLine(next), name, end))) continue;
        this.#progress.done(next);
        ended.push(next);
      }
    }
  }
}

const nameOf = ({ item, of }: Task, customId: string): string => (of === 0 ? customId : `${customId}[${item}]`);
