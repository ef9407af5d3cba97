import type { Call } from '../programs/call.js';
import type { CacheContents } from './cache-contents.js';
import type { Context, IdleBucket } from './context.js';
import type { IdleClaims } from './idle-claims.js';

/** The idle contexts that a call evicted or took claims from, as they were before. */
export type DisplacedContexts = Map<Context, ReturnType<typeof standingOf>>;

export const standingOf = ({ bucket, isRetained, isReturning }: Context) => ({
  bucket: bucket as IdleBucket,
  isRetained: isRetained || isReturning,
});

/** Displaced contexts of each call in flight, to be restored if it leaves `nothing`. */
export class Displacements {
  readonly #displaced = new Map<Call, DisplacedContexts>();

  constructor(
    private readonly contents: CacheContents,
    private readonly claims: IdleClaims,
  ) {}

  get calls(): Iterable<Call> {
    return this.#displaced.keys();
  }

  begin(call: Call): DisplacedContexts {
    const displaced: DisplacedContexts = new Map();
    this.#displaced.set(call, displaced);
    return displaced;
  }

  end(call: Call): DisplacedContexts | undefined {
    const displaced = this.#displaced.get(call);
    this.#displaced.delete(call);
    return displaced;
  }

  clear(): void {
    this.#displaced.clear();
  }

  /** Restores these contexts and returns them, except where their threads have gone on or ended. */
  restore(displaced: DisplacedContexts): Context[] {
    const back = [...displaced].filter(([context, { bucket }]) => {
      if (context.program.hasEnded) return false;
      const there = this.contents.get(context.program, context.thread);
      return there === undefined || (there === context && context.bucket === bucket);
    });
    const dropped = back.filter(([context]) => context.bucket === undefined);
    this.contents.readmit(dropped.map(([context]) => context));
    for (const [context, { bucket, isRetained }] of back) {
      if (context.bucket === undefined) this.claims.resume(context, bucket, isRetained);
      else if (isRetained) this.claims.retain(context);
    }
    return back.map(([context]) => context);
  }
}
