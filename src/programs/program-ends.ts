import { HORIZON_STEPS, STEPS_PER_HALF_LIFE } from '../policies/idle-steps.js';
import type { AgentType } from './agent-types.js';
import { Lessons } from './lessons.js';
import type { ProcessTable, Program } from './process-table.js';

/**
 * Tells the ends of programs to all that learn from them: the completion indices of its agent type and of all,
 * and the declarations that its outlook knows.
 *
 *     presumedEnded   idle beyond the horizon of retention: few clients tell an end, and leases are long
 *     revived         a call of it has come after all
 *     ended           for good, whatever the cause; once a program
 *
 * A program that several gateways have run ends once, at the last of them. Each learns from the service that it gave
 * itself, so that service and ends are in proportion at all.
 *
 * The indices learn all service and announced ends a horizon late, since presumed ends are known no earlier: otherwise
 * many programs that came at once would seem never to end.
 */
export class ProgramEnds {
  readonly #lessons = new Lessons();

  /** @param background the type of programs that nothing is learnt from */
  constructor(
    private readonly table: ProcessTable,
    private readonly background: AgentType,
  ) {}

  /** Presumes that programs have ended that have been idle for four half-lives of retention. */
  presume(nowMs: number, halfLifeMs: number): void {
    const horizonMs = (HORIZON_STEPS / STEPS_PER_HALF_LIFE) * halfLifeMs;
    this.#lessons.learn(nowMs - horizonMs);
    for (let row = this.table.nextIdle; row !== undefined; row = this.table.nextIdle) {
      if ((row.idleSinceMs ?? Infinity) + horizonMs > nowMs) return;
      this.table.presumeEnded(row);
      if (row.isElsewhere) continue;
      row.type.index.ended(row.serviceMs);
      row.outlook?.presumedEnded(row.serviceMs);
    }
  }

  served({ type, serviceMs }: Program, toMs: number, nowMs: number): void {
    if (toMs > serviceMs && type !== this.background)
      this.#lessons.add({ index: type.index, atMs: nowMs, fromMs: serviceMs, toMs });
  }

  /** A call of it has come: here, or at another gateway. */
  wentOn(row: Program, isElsewhere: boolean): void {
    if (row.isPresumedEnded && !row.isElsewhere) {
      row.type.index.revived(row.serviceMs);
      row.outlook?.revived();
    }
    row.isElsewhere = isElsewhere;
  }

  ended({ isPresumedEnded, isElsewhere, serviceMs, type, outlook, lastCompletionAtMs, createdAtMs }: Program): void {
    if (isElsewhere || type === this.background) return;
    const atMs = lastCompletionAtMs ?? createdAtMs;
    if (!isPresumedEnded) this.#lessons.add({ index: type.index, atMs, fromMs: serviceMs });
    outlook?.ended(serviceMs);
  }
}
