/**
 * A signal to a process group arrives twice under npm: from the terminal or the supervisor, and passed on by npm.
 * Within this time both count as one.
 */
const SAME_SIGNAL_MS = 100;

/** A signal ended the work early; its partial results have been reported. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface SignalActions {
  /** Ends the work in good order; called once, by the first SIGTERM or SIGINT. */
  readonly stop: () => Promise<void>;
  /**
   * Handles SIGHUP. Absent: SIGHUP ends the process like the others, so that a closed terminal leaves nothing behind.
   */
  readonly reload?: () => void;
  /** Signals are handled until it settles. Absent: for good. */
  readonly until?: Promise<unknown>;
}

/**
 * Resolves when `stop` has, after a first signal.
 * @throws Interrupted at a second signal, without waiting for `stop`; and what `stop` throws.
 */
export function untilStopped({ stop, reload, until }: SignalActions): Promise<void> {
  return new Promise((resolve, reject) => {
    let firstAt: number | undefined;
    const end = (signal: NodeJS.Signals) => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        stop().then(resolve, reject);
      } else if (performance.now() - firstAt > SAME_SIGNAL_MS) {
        reject(new Interrupted(`ended at once by a second signal, ${signal}`));
      }
    };
    const listeners = Object.entries({ SIGTERM: end, SIGINT: end, SIGHUP: reload ?? end });
    for (const [signal, listener] of listeners) process.on(signal, listener);
    const leave = () => {
      for (const [signal, listener] of listeners) process.off(signal, listener);
    };
    until?.then(leave, leave);
  });
}

/**
 * The result of the work. A first signal asks it to end early, by its AbortSignal.
 * @param reason of the abort
 * @throws Interrupted at a second signal, without waiting for it; and what the work throws.
 */
export async function stoppable<T>(work: (signal: AbortSignal) => Promise<T>, reason?: Error): Promise<T> {
  const stop = new AbortController();
  const ended = work(stop.signal);
  const stopped = untilStopped({
    stop: async () => {
      stop.abort(reason);
      await ended;
    },
    until: ended,
  });
  await Promise.race([ended, stopped]);
  return ended;
}
