import { Worker } from 'node:worker_threads';
import type { TenantId } from '../../src/index.js';
import type { Api } from '../apis/index.js';
import type { Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { withoutMark } from '../http/body.js';
import { Beginnings, beginningOf, hashesOf, type Hashes } from './beginnings.js';
import { fromSent, readBodyOf, readRest, type ReadBody } from './read.js';
import { checkShape, skeletonOf } from './skeleton.js';
import type { ReadJob, ReadResult } from './thread.js';

/** Bodies up to this size are parsed without a check, because they are too small to block anyone. */
const SMALL_BYTES = 32_768;
/** Cost of parsing and reading a key, an object or an array, in bytes of text. */
const NODE_BYTES = 16;
/** Heap of the thread; a body within the shape's limits needs less than half of it. */
const HEAP_MB = 1024;
const HEAP_TIMES_BODY = 16;

interface Waiting {
  readonly tenant: TenantId;
  readonly path: string;
  readonly bytes: Buffer;
  readonly hashes: Hashes | undefined;
  readonly isWanted: () => boolean;
  readonly resolve: (body: ReadBody) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads the bodies of calls: those of which little is new immediately, others in a thread, so that no stream stalls. The
 * thread reads one body at a time, alternately the smallest and the oldest: small ones wait for at most one large one
 * each, and a large one does not wait for ever.
 */
export class BodyReader {
  #thread: Worker | undefined;
  #running: Waiting | undefined;
  readonly #waiting: Waiting[] = [];
  #isOldestNext = false;
  readonly #beginnings: Beginnings;

  constructor(
    private readonly config: () => Config,
    beginningBytes: number,
  ) {
    this.#beginnings = new Beginnings(beginningBytes);
  }

  /**
   * @param isWanted called before a large body's turn; `false` skips the body
   * @throws GatewayError `body_too_complex`, `client_gone`, and as `readBodyOf`
   */
  read(tenant: TenantId, api: Api, path: string, bytes: Buffer, isWanted: () => boolean): ReadBody | Promise<ReadBody> {
    if (bytes.length <= SMALL_BYTES) return readBodyOf(api, bytes);
    const raw = withoutMark(bytes);
    const hashes = hashesOf(api, raw);
    return (
      this.#readHere(tenant, api, raw, hashes) ??
      new Promise((resolve, reject) => {
        this.#waiting.push({ tenant, path, bytes: raw, hashes, isWanted, resolve, reject });
        this.#next();
      })
    );
  }

  /** Undefined for a body that would take too long. */
  #readHere(tenant: TenantId, api: Api, raw: Buffer, hashes: Hashes | undefined): ReadBody | undefined {
    const { limits } = this.config();
    const known = this.#beginnings.find(tenant, api, hashes);
    const last = known?.items.at(-1);
    const [from, nodes] = last ? [last.end, last.nodes] : [0, 0];
    if (raw.length - from > limits.inlineBytes) return undefined;
    const skeleton = skeletonOf(raw, api.list, known);
    checkShape(skeleton, limits);
    if (raw.length - from + NODE_BYTES * (skeleton.nodes - nodes) > limits.inlineBytes) return undefined;
    const rest = known && skeleton.list && readRest(api, raw, known);
    if (known && !rest && raw.length + NODE_BYTES * skeleton.nodes > limits.inlineBytes) return undefined;
    const read = rest ?? readBodyOf(api, raw);
    if (hashes === undefined) return read;
    const { body, keys, facts, opening } = read;
    const { list } = skeleton;
    this.#beginnings.learn(tenant, beginningOf(api, hashes, { body, list }, rest && known, limits.inlineBytes));
    return { raw, body, keys, facts, opening, hash: hashes.whole };
  }

  async close(): Promise<void> {
    const gone = new GatewayError('draining', 'The gateway has shut down.');
    for (const { reject } of [...this.#waiting.splice(0), ...(this.#running ? [this.#running] : [])]) reject(gone);
    this.#running = undefined;
    await this.#thread?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const all = this.#waiting.splice(0);
    for (const job of all) {
      if (job.isWanted()) this.#waiting.push(job);
      else job.reject(new GatewayError('client_gone', 'The client left before its request was read.'));
    }
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    const job = this.#isOldestNext ? oldest : this.#waiting.reduce((a, b) => (b.bytes.length < a.bytes.length ? b : a));
    this.#isOldestNext = !this.#isOldestNext;
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    this.#running = job;
    const { bodyDepthMax, bodyNodesMax, inlineBytes } = this.config().limits;
    const { path, bytes, hashes } = job;
    const message: ReadJob = { path, bytes, hashes, limits: { bodyDepthMax, bodyNodesMax, inlineBytes } };
    // Transfers the buffer to the thread and back. A buffer that shares its memory is copied.
    const isAlone = bytes.byteLength === bytes.buffer.byteLength;
    (this.#thread ??= this.#start()).postMessage(message, isAlone ? [bytes.buffer as ArrayBuffer] : []);
  }

  #start(): Worker {
    const heapMb = Math.max(HEAP_MB, Math.ceil((HEAP_TIMES_BODY * this.config().limits.bodyBytes) / 1_048_576));
    const thread = new Worker(new URL('./thread.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    thread.unref();
    thread.on('message', (result: ReadResult) => this.#done(result));
    thread.on('error', (error: NodeJS.ErrnoException) => {
      this.#thread = undefined;
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const tooLarge = new GatewayError('body_too_complex', 'The request body takes too much memory.');
      this.#finish()?.reject(isTooLarge ? tooLarge : error);
    });
    return thread;
  }

  #done(result: ReadResult): void {
    const job = this.#finish();
    if ('sent' in result) {
      const { buffer, byteOffset, length } = result.bytes;
      const raw = Buffer.from(buffer, byteOffset, length);
      if (job) this.#beginnings.learn(job.tenant, result.beginning);
      // In a separate turn, because receiving the thread's message has already taken one.
      setImmediate(() => job?.resolve(fromSent(result.sent, raw)));
    } else job?.reject(new GatewayError(result.refused.code, result.refused.message, result.refused.detail));
  }

  /** Ends the thread's present job, and begins its next. */
  #finish(): Waiting | undefined {
    const job = this.#running;
    this.#running = undefined;
    this.#next();
    return job;
  }
}
