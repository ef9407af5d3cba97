import type { CacheContents } from './cache-contents.js';
import type { Context, IdleBucket } from './context.js';
import type { IdleClaims } from './idle-claims.js';

/** The idle contexts that a call evicted or took claims from, as they were before. */
export type DisplacedContexts = Map<Context, ReturnType<typeof standingOf>>;

export const standingOf = ({ bucket, isRetained, isReturning }: Context) => ({
  bucket: bucket as IdleBucket,
  isRetained: isRetained || isReturning,
});

/** Restores these contexts and returns them, except where their threads have gone on or ended. */
export function restore(displaced: DisplacedContexts, contents: CacheContents, claims: IdleClaims): Context[] {
  const back = [...displaced].filter(([context, { bucket }]) => {
    if (context.program.hasEnded) return false;
    const there = contents.get(context.program, context.thread);
    return there === undefined || (there === context && context.bucket === bucket);
  });
  const dropped = back.filter(([context]) => context.bucket === undefined);
  contents.readmit(dropped.map(([context]) => context));
  for (const [context, { bucket, isRetained }] of back) {
    if (context.bucket === undefined) claims.resume(context, bucket, isRetained);
    else if (isRetained) claims.retain(context);
  }
  return back.map(([context]) => context);
}
