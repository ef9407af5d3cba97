import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { open } from 'node:fs/promises';
import { BadItems, isDeterministic, MissingAnswer, requestOf } from '../../plans/index.js';
import type { EngineId } from '../../src/index.js';
import { parseJson } from '../apis/fields.js';
import type { Input } from './input.js';
import { Lines } from './lines.js';
import { Ready } from './ready.js';
import { Rests } from './rests.js';
import type { End, Results } from './results.js';

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
  /** Answers to deterministic requests that were kept; absent: none are. */
  readonly answers?: Answers | undefined;
}

/** Answers of earlier lines, by hashes of their requests. */
export interface Answers {
  get: (key: string) => Buffer | undefined;
  set: (key: string, body: Buffer) => unknown;
}

/** Attempts of a line that a server fails, and the pause before the second one; each further pause doubles. */
const ATTEMPTS_MAX = 5;
const PAUSE_MS = 1000;
const BUSY_PAUSE_MS = 1000;
/** Pause after a fault of the disk or of ours. */
const FAULT_PAUSE_MS = 5000;

const failure = (code: string, message: string): End => ({ state: 'failed', response: null, error: { code, message } });

const LEFT_OUT: End = {
  state: 'completed',
  response: null,
  error: { code: 'condition_not_met', message: "The line's condition did not hold, so it was not asked." },
};

/**
 * A batch under way: its lines start in the plan's order, each when all answers that it needs are there. A failed line
 * fails those that need it.
 */
export class Run {
  readonly #ready: Ready;
  readonly #attempts: Uint8Array;
  readonly #rests: Rests;
  readonly #timers = new Set<() => void>();
  readonly #stop = new AbortController();
  readonly #onIdle: (() => void)[] = [];
  inFlight = 0;

  private constructor(
    readonly name: string,
    private readonly lines: Lines,
    private readonly input: Input,
    readonly results: Results,
    private readonly ports: RunPorts,
  ) {
    this.#ready = new Ready(input, results);
    this.#attempts = new Uint8Array(input.order.length);
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
    const absent = (index: number): void => run.#leaveOut(index);
    const lines = new Lines(await open(path, 'r'), input, results, urls, absent);
    const run = new Run(name, lines, input, results, ports);
    // Results of an earlier process count as if they had just come.
    for (let index = 0; index < input.needs.length; index++) if (results.stateOf(index) !== 'pending') run.#done(index);
    for (let index = 0; index < input.needs.length; index++)
      if (results.stateOf(index) === 'failed')
        for (const next of run.#failuresBy(index, (await lines.at(index)).customId))
          await run.#end(next.index, next.end);
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
    const index = this.#ready.take(at / of, (at + 1) / of);
    if (index === undefined || this.results.stateOf(index) !== 'pending') return undefined;
    this.inFlight += 1;
    try {
      const end = await this.#run(index, { entered, engine, signal: this.#stop.signal });
      if (end !== undefined) await this.#end(index, end);
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
    for (let index = 0; index < this.input.needs.length; index++)
      if (this.results.stateOf(index) === 'pending') {
        // A list whose source is answered names its items.
        if (this.#ready.isWhole(index))
          await this.lines.bodyOf(index, await this.lines.at(index)).catch(() => undefined);
        await this.#end(index, failure(code, message), false);
      }
  }

  async close(): Promise<void> {
    await this.stop();
    await Promise.all([this.lines.close(), this.results.close()]);
  }

  /** Undefined: the line has no end yet, or is absent. */
  async #run(index: number, signs: Signs): Promise<End | undefined> {
    const line = await this.lines.at(index);
    const id = `batch_req_${this.name}_${index}`;
    const ended = (status: number, answer: unknown): End => ({
      state: status === 200 ? 'completed' : 'failed',
      response: { status_code: status, request_id: id, body: answer },
      error: null,
    });
    const original = this.input.originals[index] ?? index;
    const isCopy = original !== index && this.results.stateOf(original) === 'completed';
    if (isCopy && requestOf(await this.lines.at(original)) === requestOf(line))
      return ended(200, await this.results.answerOf(original));
    let body: Buffer | undefined;
    try {
      body = await this.lines.bodyOf(index, line);
    } catch (error) {
      if (error instanceof MissingAnswer) return failure('missing_answer', error.message);
      if (error instanceof BadItems) return failure('bad_items', error.message);
      throw error;
    }
    if (body === undefined) return this.results.stateOf(index) === 'absent' ? undefined : LEFT_OUT;
    const kept = this.ports.answers !== undefined && isDeterministic(line) ? hashOf(line.url, body) : undefined;
    const known = kept === undefined ? undefined : this.ports.answers?.get(kept);
    if (known !== undefined) return ended(200, parsed(known));
    const headers = this.#rests.headersOf(index, this.name);
    const answer = await this.ports.ask({ id, url: line.url, body, headers }, signs);
    if (answer === undefined) return undefined;
    const { status, isBusy } = answer;
    if (isBusy) return this.#later(index, BUSY_PAUSE_MS);
    const isFaulty = status >= 500 || status === 404 || status === 408;
    const attempts = (this.#attempts[index] = (this.#attempts[index] ?? 0) + 1);
    if (isFaulty && attempts < ATTEMPTS_MAX) return this.#later(index, PAUSE_MS * 2 ** (attempts - 1));
    if (kept !== undefined && status === 200) this.ports.answers?.set(kept, answer.body);
    return ended(status, parsed(answer.body));
  }

  #leaveOut(index: number): void {
    if (this.results.stateOf(index) !== 'pending') return;
    this.results.leaveOut(index);
    this.#done(index);
  }

  #later(index: number, ms: number): undefined {
    if (this.#isStopped) return;
    const cancel = this.ports.setTimer(() => {
      this.#timers.delete(cancel);
      this.#ready.add(index);
      this.ports.changed();
    }, ms);
    this.#timers.add(cancel);
  }

  /**
   * Keeps the end of a line. Where a list is not known yet, its first line stands for all.
   * @param isPassedOn whether a failed line fails those that need it
   */
  async #end(index: number, end: End, isPassedOn = true): Promise<void> {
    const ends = [{ index, end }];
    for (const { index: at, end: each } of ends) {
      const customId = await this.lines.nameOf(at);
      if (customId === undefined) this.#leaveOut(at);
      else if (await this.results.keep(at, customId, each)) {
        this.#done(at);
        if (each.state === 'failed' && isPassedOn) for (const next of this.#failuresBy(at, customId)) ends.push(next);
      }
    }
  }

  #failuresBy(index: number, customId: string): { index: number; end: End }[] {
    const end = failure('dependency_failed', `The line "${customId}" failed, whose answer this one needs.`);
    return (this.input.dependents[index] ?? []).map((next) => ({ index: next, end }));
  }

  #done(index: number): void {
    this.#rests.done(index);
    this.#ready.done(index);
  }
}

const hashOf = (url: string, body: Buffer): string =>
  createHash('sha256').update(`${url}\n`).update(body).digest('base64');

function parsed(body: Buffer): unknown {
  const text = body.toString();
  const value = parseJson(text);
  return value === undefined ? text : value;
}
