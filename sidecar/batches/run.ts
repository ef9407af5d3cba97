import { setMaxListeners } from 'node:events';
import { open, type FileHandle } from 'node:fs/promises';
import { fill, MissingAnswer, parseLine, type BatchLine } from '../../plans/index.js';
import type { EngineId } from '../../src/index.js';
import type { Input } from './input.js';
import { readAt } from './line-file.js';
import { Ready } from './ready.js';
import { Rests } from './rests.js';
import type { Results } from './results.js';

/** A line of a batch as a request. */
export interface LineRequest {
  readonly id: string;
  readonly url: string;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LineAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** Whether the server had no room: the line is asked again, however often. */
  readonly isBusy: boolean;
}

/** A part of a batch in its order, and the engine that runs it: prompts that begin alike then meet one cache. */
export interface Part {
  readonly engine: EngineId | undefined;
  readonly at: number;
  readonly of: number;
}

/** All of a batch, on any engine. */
export const WHOLE: Part = { engine: undefined, at: 0, of: 1 };

/** Signs between a line under way and its sender. */
export interface Signs {
  readonly engine: EngineId | undefined;
  /** The line no longer waits: an engine has it. */
  readonly entered: () => void;
  /** A line that still waits is not to be sent any more. */
  readonly signal: AbortSignal;
}

export interface RunPorts {
  /** Undefined: the line was not sent, as the batch or the sender ends, and stays pending. */
  readonly ask: (request: LineRequest, signs: Signs) => Promise<LineAnswer | undefined>;
  /** Lines may be ready, or all are done. */
  readonly changed: () => void;
  readonly setTimer: (fn: () => void, ms: number) => () => void;
  /** Seconds until the batch's window ends; absent: it has none. */
  readonly secondsLeft?: () => number;
}

/** Attempts of a line that a server fails, and the pause before the second one; each further pause doubles. */
const ATTEMPTS_MAX = 5;
const PAUSE_MS = 1000;
const BUSY_PAUSE_MS = 1000;
/** Pause after a fault of the disk or of ours. */
const FAULT_PAUSE_MS = 5000;

/**
 * A batch under way: its lines start in the plan's order, each when all answers that it needs are there. A failed line
 * fails those that need it.
 */
export class Run {
  readonly #ready: Ready;
  /** Place of each line in the plan's order. */
  readonly #ranks: Uint32Array;
  /** Answers that each line still needs. */
  readonly #missing: Int32Array;
  readonly #attempts: Uint8Array;
  readonly #rests: Rests;
  readonly #timers = new Set<() => void>();
  readonly #stop = new AbortController();
  readonly #onIdle: (() => void)[] = [];
  inFlight = 0;

  private constructor(
    readonly name: string,
    private readonly handle: FileHandle,
    private readonly input: Input,
    readonly results: Results,
    private readonly urls: ReadonlySet<string>,
    private readonly ports: RunPorts,
  ) {
    const { order, needs } = input;
    this.#ready = new Ready(order.length);
    this.#ranks = new Uint32Array(order.length);
    order.forEach((index, rank) => (this.#ranks[index] = rank));
    this.#missing = Int32Array.from(needs, ({ length }) => length);
    this.#attempts = new Uint8Array(order.length);
    this.#rests = new Rests(input);
    setMaxListeners(0, this.#stop.signal);
  }

  /** @param path of the input */
  static async open(
    name: string,
    path: string,
    input: Input,
    results: Results,
    urls: ReadonlySet<string>,
    ports: RunPorts,
  ): Promise<Run> {
    const run = new Run(name, await open(path, 'r'), input, results, urls, ports);
    // Results of an earlier process count as if they had just come.
    for (const [index, { length }] of input.needs.entries())
      if (results.stateOf(index) !== 'pending') run.#done(index);
      else if (length === 0) run.#ready.add(run.#ranks[index] ?? 0);
    for (let index = 0; index < input.needs.length; index++)
      if (results.stateOf(index) === 'failed') await run.#failDependents(index);
    return run;
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Whether a line could start now. */
  get isReady(): boolean {
    return !this.#isStopped && this.#ready.size > 0;
  }

  get isDone(): boolean {
    return this.results.pending === 0 && this.inFlight === 0;
  }

  /** Lines that have all answers that they need, and have not started. */
  get ready(): number {
    return this.#ready.size;
  }

  /**
   * Starts the next ready line of a part, or the last of all without one. It never rejects.
   * @param entered called when an engine has the line
   * @returns when the line has ended, with its fault here if any
   */
  async startNext(entered: () => void, { at, of, engine } = WHOLE): Promise<unknown> {
    const { length } = this.input.order;
    const rank = this.#ready.take(Math.floor((at * length) / of), Math.floor(((at + 1) * length) / of));
    const index = this.input.order[rank ?? -1];
    if (index === undefined || this.results.stateOf(index) !== 'pending') return undefined;
    this.inFlight += 1;
    try {
      await this.#run(index, { entered, engine, signal: this.#stop.signal });
      return undefined;
    } catch (fault) {
      this.#later(index, FAULT_PAUSE_MS);
      return fault;
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) for (const tell of this.#onIdle.splice(0)) tell();
      this.ports.changed();
    }
  }

  /** Starts no further line, and waits for those that engines have. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const cancel of this.#timers) cancel();
    if (this.inFlight > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Fails all lines that have no result. */
  async failRest(code: string, message: string): Promise<void> {
    for (let index = 0; index < this.input.needs.length; index++) {
      if (this.results.stateOf(index) !== 'pending') continue;
      const { customId } = await this.#lineAt(index);
      await this.results.keep(index, 'failed', { customId, response: null, error: { code, message } });
    }
  }

  async close(): Promise<void> {
    await this.stop();
    await Promise.all([this.handle.close(), this.results.close()]);
  }

  async #run(index: number, signs: Signs): Promise<void> {
    const line = await this.#lineAt(index);
    const body = await this.#bodyOf(index, line);
    if (body instanceof MissingAnswer) return this.#fail(index, line.customId, 'missing_answer', body.message);
    const headers = this.#rests.headersOf(index, this.name, this.ports.secondsLeft?.());
    const request = { id: `batch_req_${this.name}_${index}`, url: line.url, body, headers };
    const answer = await this.ports.ask(request, signs);
    if (answer === undefined) return;
    const { status, isBusy } = answer;
    if (isBusy) return this.#later(index, BUSY_PAUSE_MS);
    const isFaulty = status >= 500 || status === 404 || status === 408;
    const attempts = (this.#attempts[index] = (this.#attempts[index] ?? 0) + 1);
    if (isFaulty && attempts < ATTEMPTS_MAX) return this.#later(index, PAUSE_MS * 2 ** (attempts - 1));
    const state = status === 200 ? 'completed' : 'failed';
    const response = { status_code: status, request_id: request.id, body: parsed(answer.body) };
    if (!(await this.results.keep(index, state, { customId: line.customId, response, error: null }))) return;
    this.#done(index);
    if (state === 'failed') await this.#failDependents(index);
  }

  async #lineAt(index: number): Promise<BatchLine> {
    const { offsets, lengths } = this.input;
    const bytes = await readAt(this.handle, offsets[index] ?? 0, lengths[index] ?? 0);
    const line = parseLine(bytes.toString(), index, this.urls);
    if ('code' in line) throw new Error(`the input file has changed: ${line.message}`);
    return line;
  }

  async #bodyOf(index: number, { after, body, needs }: BatchLine): Promise<Buffer | MissingAnswer> {
    const answers = new Map<string, unknown>();
    for (const [at, need] of (this.input.needs[index] ?? []).entries())
      answers.set(needs[at] ?? '', await this.results.answerOf(need));
    try {
      return Buffer.from(JSON.stringify(needs.length === 0 ? body : fill(body, after, (id) => answers.get(id))));
    } catch (error) {
      if (error instanceof MissingAnswer) return error;
      throw error;
    }
  }

  #later(index: number, ms: number): void {
    if (this.#isStopped) return;
    const cancel = this.ports.setTimer(() => {
      this.#timers.delete(cancel);
      this.#ready.add(this.#ranks[index] ?? 0);
      this.ports.changed();
    }, ms);
    this.#timers.add(cancel);
  }

  async #fail(index: number, customId: string, code: string, message: string): Promise<void> {
    if (!(await this.results.keep(index, 'failed', { customId, response: null, error: { code, message } }))) return;
    this.#done(index);
    await this.#failDependents(index);
  }

  /** @param index a failed line */
  async #failDependents(index: number): Promise<void> {
    const failed = [index];
    for (let at = failed.pop(); at !== undefined; at = failed.pop()) {
      const pending = (this.input.dependents[at] ?? []).filter((next) => this.results.stateOf(next) === 'pending');
      const { customId } = pending.length === 0 ? { customId: '' } : await this.#lineAt(at);
      for (const next of pending) {
        const line = await this.#lineAt(next);
        const error = {
          code: 'dependency_failed',
          message: `The line "${customId}" failed, whose answer this one needs.`,
        };
        if (!(await this.results.keep(next, 'failed', { customId: line.customId, response: null, error }))) continue;
        this.#done(next);
        failed.push(next);
      }
    }
  }

  #done(index: number): void {
    this.#rests.done(index);
    const { dependents, needs } = this.input;
    for (const next of dependents[index] ?? []) {
      const missing = (this.#missing[next] = (this.#missing[next] ?? 0) - 1);
      const isReady = missing === 0 && (needs[next] ?? []).every((need) => this.results.stateOf(need) === 'completed');
      if (isReady && this.results.stateOf(next) === 'pending') this.#ready.add(this.#ranks[next] ?? 0);
    }
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return body.toString();
  }
}
