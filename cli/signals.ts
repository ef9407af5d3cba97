/**
 * A signal to a process group reaches us twice under npm: from the terminal or the supervisor, and passed on by npm.
 * Within this time both are one.
 */
const SAME_SIGNAL_MS = 100;

/** A signal ended the work before it was done; what there was of it has been told. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface SignalActions {
  /** Ends the work in good order; called once, by the first SIGTERM or SIGINT. */
  readonly stop: () => Promise<void>;
  /** Takes a SIGHUP. Absent: SIGHUP ends the process like the others, so that a closed terminal leaves nothing behind. */
  readonly reload?: () => void;
}

/**
 * Resolves when `stop` has, after a first signal.
 * @throws Error at a second signal, without waiting for `stop`; and what `stop` throws.
 */
export function untilStopped({ stop, reload }: SignalActions): Promise<void> {
  return new Promise((resolve, reject) => {
    let firstAt: number | undefined;
    const end = (signal: NodeJS.Signals) => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        stop().then(resolve, reject);
      } else if (performance.now() - firstAt > SAME_SIGNAL_MS) {
        reject(new Error(`ended at once by a second signal, ${signal}`));
      }
    };
    process.on('SIGTERM', end);
    process.on('SIGINT', end);
    process.on('SIGHUP', reload ?? end);
  });
}
