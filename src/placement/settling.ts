import type { SchedulerConfig } from '../config.js';
import type { Engine } from '../engines/engine.js';
import { WorkingSet } from '../kv/working-set.js';

/**
 * What time alone opens on engines: the end of a rest after "no room", and gates behind which idle contexts fade.
 * Contexts fade in steps, so between two of them an engine without news is not looked at.
 */
export class Settling {
  readonly #resting = new Set<Engine>();
  /** Engines to which something has happened since contexts last faded, and what they faded by. */
  readonly #unsettled = new Set<Engine>();
  #step = NaN;
  #config: SchedulerConfig | undefined;
  #fadeAtMs = Infinity;

  /** Something has come into the engine's cache, or left it. */
  unsettle(engine: Engine): void {
    this.#unsettled.add(engine);
  }

  rest(engine: Engine, untilMs: number): void {
    engine.restUntilMs = untilMs;
    this.#resting.add(engine);
  }

  endRest(engine: Engine): void {
    this.#resting.delete(engine);
  }

  /** Lets time pass. Returns the engines that may have room now that had none. */
  pass(nowMs: number, config: SchedulerConfig, engines: ReadonlyMap<unknown, Engine>): Engine[] {
    const opened = [...this.#resting].filter((engine) => engine.restUntilMs <= nowMs);
    for (const engine of opened) this.#resting.delete(engine);
    const { admission, policy } = config;
    const step = WorkingSet.stepOf(nowMs, admission.halfLifeMs);
    // All engines in a new step, so that what comes next is counted from now: a context left here has not been idle yet.
    if (step !== this.#step || config !== this.#config)
      for (const engine of engines.values()) this.#unsettled.add(engine);
    for (const engine of this.#unsettled) engine.settle(nowMs, admission.halfLifeMs, policy.msPerPromptToken);
    if (this.#unsettled.size > 0) this.#unsettled.clear();
    this.#step = step;
    this.#config = config;
    return nowMs >= this.#fadeAtMs ? [...engines.values()] : opened;
  }

  /** When `pass` may next open something; Infinity when only events can. @param fades calls wait for contexts to fade */
  nextMs(nowMs: number, halfLifeMs: number, fades: boolean): number {
    this.#fadeAtMs = fades ? WorkingSet.nextStepMs(nowMs, halfLifeMs) : Infinity;
    let at = this.#fadeAtMs;
    for (const engine of this.#resting) at = Math.min(at, engine.restUntilMs);
    return at;
  }
}
