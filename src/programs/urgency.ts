import type { Program } from './process-table.js';

/** Deadline of a program that declares none, in the time that it is expected to take alone (SAGA, 9.1). */
const ALONE_FACTOR = 1.5;

/**
 * Engine time that a program needs each millisecond from `atMs` on to meet its deadline, 0 to 1 (SAGA, equation 8):
 *
 *     urgency = remaining work / (deadline - now)
 *
 * A program past its deadline counts as 1, and so does one that cannot meet it any more: of a chain of calls one runs at
 * a time. So what is lost is no more urgent than what can just be saved.
 *
 * The remaining work is that of its outlook. Else it is what programs with as much service have needed, and before any
 * have ended the service attained. Without a declaration, the deadline is one and a half times its whole work after its
 * arrival. The time in which it had no call is added, since its tools took that and not the engines.
 * @param isLearnt whether enough programs have ended
 * @param leastMs lower bound on the remaining work
 */
export function urgencyOf(
  program: Program,
  isLearnt: boolean,
  foresees: boolean,
  leastMs: number,
  atMs: number,
): number {
  const { serviceMs, createdAtMs, pausedMs, deadlineAtMs } = program;
  const workMs = Math.max(leastMs, workOf(program, isLearnt, foresees));
  const dueAtMs = deadlineAtMs ?? createdAtMs + pausedMs + ALONE_FACTOR * (serviceMs + workMs);
  return workMs < dueAtMs - atMs ? workMs / (dueAtMs - atMs) : 1;
}

function workOf({ serviceMs, type, outlook }: Program, isLearnt: boolean, foresees: boolean): number {
  const ms =
    (foresees ? outlook?.view(serviceMs)?.remainingMs : undefined) ??
    (isLearnt ? type.index.msToEnd(serviceMs) : serviceMs);
  // Infinity: no program has ended after as much service.
  return Number.isFinite(ms) ? ms : serviceMs;
}
