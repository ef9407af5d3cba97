import { HORIZON_STEPS } from '../policies/idle-steps.js';
import type { ContextClass, RetentionPolicy } from '../policies/retention.js';
import type { Context, IdleBucket } from './context.js';
import type { SharedHoldings } from './shared-prefixes.js';

/** Tolerated rounding error of sums of shares, in tokens. */
const ROUNDING = 1e-6;

/** The claims of one engine's idle contexts, by class and by the step in which they fell idle. */
export class IdleClaims {
  /** Contexts idle beyond the horizon, longest first. */
  readonly #old = emptyBucket(-Infinity, 0, 0);
  #buckets: IdleBucket[] = [];
  #step = 0;
  #worthSteps = Infinity;
  #returningTokens = 0;
  #retainedTokens = 0;
  /**
   * Contexts that the cache lost before their outcome was known, by thread, first lost first. Without their returns a
   * policy would learn only of contexts that last: one that holds nothing would go on so, however soon they return.
   * Late returns, and those that never come, are learnt of contexts that last (lab/NOTEBOOK.md, "Returns to lost contexts").
   */
  readonly #evicted = new Map<string, { readonly context: Context; readonly bucket: IdleBucket }>();

  /** @param counted the shared prefixes of all contexts that count, active ones included */
  constructor(
    public retention: RetentionPolicy,
    private readonly counted: SharedHoldings,
  ) {}

  /** Tokens claimed, as of the last `settle`, without shared prefixes. */
  get tokens(): number {
    return this.#returningTokens + Math.max(0, Math.ceil(this.#retainedTokens - ROUNDING));
  }

  rest(context: Context): void {
    context.isRecorded = false;
    this.#enter(context, this.#bucketOf(this.retention.classOf(context)));
    this.retain(context);
  }

  /** The context is idle again as before: in its former bucket, with its former claim. */
  resume(context: Context, bucket: IdleBucket, isRetained: boolean): void {
    this.#evicted.delete(keyOf(context));
    if (bucket === this.#old || this.#age(bucket) >= HORIZON_STEPS) return this.#enter(context, this.#old);
    if (!this.#buckets.includes(bucket)) {
      bucket.share = this.#shareOf(bucket);
      this.#buckets.push(bucket);
      this.#buckets.sort((a, b) => a.step - b.step);
    }
    this.#enter(context, bucket);
    if (isRetained) this.retain(context);
  }

  leave(context: Context): void {
    const { bucket } = context;
    if (bucket !== undefined) {
      this.endReturn(context);
      this.release(context);
      bucket.members.delete(context);
      context.bucket = undefined;
    }
    this.recount(context);
  }

  /** The cache has lost the context. */
  evict(context: Context): void {
    const { bucket } = context;
    this.leave(context);
    if (bucket !== undefined && !context.isRecorded) this.#evicted.set(keyOf(context), { context, bucket });
  }

  /** A call of the thread has come, whose context is not here: holding it would have paid, if it is back soon. */
  returned(thread: Pick<Context, 'program' | 'thread'>): void {
    const key = keyOf(thread);
    const lost = this.#evicted.get(key);
    if (lost === undefined) return;
    this.#evicted.delete(key);
    const age = this.#age(lost.bucket);
    if (age < this.#worthSteps && this.retention.isOfKept !== true)
      this.retention.learn(lost.bucket.kind, age, lost.context);
    lost.context.isRecorded = true;
  }

  /** The cache is lost: nobody knows what would have come of its contexts. */
  forgetEvicted(): void {
    this.#evicted.clear();
  }

  retain(context: Context): void {
    const { bucket } = context;
    if (bucket === undefined || bucket.share === 0 || context.isRetained) return;
    context.isRetained = true;
    bucket.retainedTokens += context.countedTokens;
    this.#retainedTokens += context.countedTokens * bucket.share;
    this.recount(context);
  }

  release(context: Context): void {
    const { bucket } = context;
    if (bucket === undefined || !context.isRetained) return;
    context.isRetained = false;
    bucket.retainedTokens -= context.countedTokens;
    this.#retainedTokens -= context.countedTokens * bucket.share;
    this.recount(context);
  }

  /** A call of the thread has come, and is not to return: its context stays as long as the cache keeps it. */
  forgo(context: Context): void {
    if (context.bucket === undefined) return;
    this.record(context, this.#age(context.bucket));
    this.release(context);
  }

  /** A call of the thread waits to return: its context counts in full until the call runs. */
  expectReturn(context: Context): void {
    const { bucket } = context;
    if (bucket === undefined || context.isReturning) return;
    this.record(context, this.#age(bucket));
    this.release(context);
    context.isReturning = true;
    bucket.returning += 1;
    this.#returningTokens += context.countedTokens;
    this.recount(context);
  }

  /** The thread's last waiting call has left the queue. Returns true when that has made room. */
  endReturn(context: Context): boolean {
    if (!context.isReturning || context.bucket === undefined) return false;
    context.isReturning = false;
    context.bucket.returning -= 1;
    this.#returningTokens -= context.countedTokens;
    this.recount(context);
    return true;
  }

  /** Tells the retention policy the outcome, once an idle spell. @param age steps to the return; undefined: none */
  record(context: Context, age: number | undefined): void {
    if (context.bucket !== undefined && !context.isRecorded) this.retention.learn(context.bucket.kind, age, context);
    context.isRecorded = true;
  }

  /** Counts or discounts the family's prefix when the context begins or ceases to count. */
  recount(context: Context): void {
    const counts = context.state === 'active' || context.isRetained || context.isReturning;
    if (counts === context.countsShared) return;
    context.countsShared = counts;
    this.counted.count(context.family, context.sharedTokens, counts ? 1 : -1);
  }

  /** Contexts with a claim, longest idle first. */
  *claimed(): Generator<Context> {
    for (const bucket of [this.#old, ...this.#buckets]) {
      if (bucket.retainedTokens === 0 && bucket.returning === 0) continue;
      for (const context of bucket.members) if (context.isRetained || context.isReturning) yield context;
    }
  }

  /** Lets claims fade up to this step. Returns the contexts that passed the horizon without a return. */
  settle(step: number, worthSteps: number): Context[] {
    this.#worthSteps = worthSteps;
    if (step === this.#step) return [];
    this.#step = step;
    for (const [key, { bucket }] of this.#evicted) {
      if (this.#age(bucket) < HORIZON_STEPS) break;
      this.#evicted.delete(key);
    }
    const late: Context[] = [];
    for (const bucket of this.#buckets) {
      if (this.#age(bucket) < HORIZON_STEPS) continue;
      for (const context of bucket.members) {
        this.#judge(context, bucket);
        late.push(context);
      }
    }
    this.#buckets = this.#buckets.filter(({ members }) => members.size > 0);
    this.#retainedTokens = 0;
    for (const bucket of this.#buckets) {
      bucket.share = this.#shareOf(bucket);
      this.#retainedTokens += bucket.retainedTokens * bucket.share;
      if (bucket.share === 0 && bucket.retainedTokens > 0) for (const context of bucket.members) this.release(context);
    }
    return late;
  }

  /** The context passed the horizon: it stays as long as the cache keeps it, without a claim. */
  #judge(context: Context, bucket: IdleBucket): void {
    this.record(context, undefined);
    this.release(context);
    bucket.members.delete(context);
    this.#enter(context, this.#old);
    if (context.isReturning) this.#old.returning += 1;
  }

  #enter(context: Context, bucket: IdleBucket): void {
    context.bucket = bucket;
    bucket.members.add(context);
  }

  #shareOf(bucket: IdleBucket): number {
    return this.retention.share(bucket.kind, this.#age(bucket), this.#worthSteps);
  }

  /** Age in steps. With a new half-life, a step's length, a bucket may lie in the future: it counts as old. */
  #age(bucket: IdleBucket): number {
    return bucket.step > this.#step ? HORIZON_STEPS : this.#step - bucket.step;
  }

  #bucketOf(kind: ContextClass): IdleBucket {
    for (let index = this.#buckets.length - 1; this.#buckets[index]?.step === this.#step; index -= 1) {
      const bucket = this.#buckets[index];
      if (bucket?.kind === kind) return bucket;
    }
    const bucket = emptyBucket(this.#step, kind, this.retention.share(kind, 0, this.#worthSteps));
    this.#buckets.push(bucket);
    return bucket;
  }
}

const keyOf = ({ program, thread }: Pick<Context, 'program' | 'thread'>): string => `${program.id}\n${thread}`;

function emptyBucket(step: number, kind: ContextClass, share: number): IdleBucket {
  return { step, kind, members: new Set<Context>(), retainedTokens: 0, returning: 0, share };
}
