import type { SchedulerConfig } from '../config.js';
import type { Engine } from '../engines/engine.js';
import { nextStepMs, stepOf } from '../policies/idle-steps.js';

/** Changes that time alone brings: rests end, and contexts fade in steps. Between two, quiet engines are left alone. */
export class Settling {
  readonly #resting = new Set<Engine>();
  /** Engines whose contents changed since contexts last faded, then the step and the settings of that fade. */
  readonly #unsettled: Engine[] = [];
  #step = NaN;
  #config: SchedulerConfig | undefined;
  #fadeAtMs = Infinity;

  unsettle(engine: Engine): void {
    if (!this.#unsettled.includes(engine)) this.#unsettled.push(engine);
  }

  rest(engine: Engine): void {
    this.#resting.add(engine);
  }

  /** Lets time pass. Returns the engines that may have room since the last call. */
  pass(nowMs: number, config: SchedulerConfig, engines: ReadonlyMap<unknown, Engine>): Engine[] {
    const opened: Engine[] = [];
    for (const engine of this.#resting) {
      if (engine.rests.pass(nowMs)) opened.push(engine);
      if (engine.rests.isQuiet) this.#resting.delete(engine);
    }
    const { admission, policy } = config;
    const step = stepOf(nowMs, admission.halfLifeMs);
    // All engines in a new step, so that idle time is counted from now: a context left here has not been idle yet.
    const isNew = step !== this.#step || config !== this.#config;
    for (const engine of isNew ? engines.values() : this.#unsettled)
      engine.settle(nowMs, admission.halfLifeMs, policy.msPerPromptToken);
    this.#unsettled.length = 0;
    this.#step = step;
    this.#config = config;
    return nowMs >= this.#fadeAtMs ? [...engines.values()] : opened;
  }

  /** Earliest time at which `pass` may open something; Infinity when only events can. @param fades calls wait for that */
  nextMs(nowMs: number, halfLifeMs: number, fades: boolean): number {
    this.#fadeAtMs = fades ? nextStepMs(nowMs, halfLifeMs) : Infinity;
    let at = this.#fadeAtMs;
    for (const engine of this.#resting) at = Math.min(at, engine.rests.nextMs);
    return at;
  }
}
