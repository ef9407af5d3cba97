import { makeBalancer, type BalancerName } from '../../loadbalancer/index.js';
import {
  callId,
  engineId,
  millis,
  programId,
  Scheduler,
  type Balancer,
  type CallFailed,
  type Command,
  type Dispatch,
  type EngineView,
  type Event,
  type ProgramView,
  type Reject,
} from '../../src/index.js';
import { coreConfig, type CoreChanges } from './core-config.js';
import type { WatchingPolicy } from './core-moment.js';
import {
  arrived,
  failed,
  finished,
  joined,
  type ArrivalFacts,
  type EngineFacts,
  type FinishFacts,
} from './core-events.js';

export const balancerNamed = (name: BalancerName, thresholdTokens = 1_000): Balancer =>
  makeBalancer({ name, thresholdTokens, adaptThreshold: false });

/**
 * A scheduler with a clock that the test sets by hand. It remembers every command, and the last `wakeAt`, which it
 * obeys when time passes.
 */
export class Desk {
  readonly scheduler: Scheduler;
  readonly log: Command[] = [];
  nowMs = 0;
  wakeAtMs = Infinity;

  constructor(
    changes: CoreChanges = {},
    balancer: BalancerName | Balancer = 'program-affinity',
    private readonly policy?: WatchingPolicy,
  ) {
    this.scheduler = new Scheduler(
      coreConfig(changes),
      typeof balancer === 'string' ? balancerNamed(balancer) : balancer,
      policy,
    );
  }

  /** Applies the event now. Returns the commands except `wakeAt`. */
  tell(event: Event): Command[] {
    const commands = this.scheduler.step(event, millis(this.nowMs));
    this.policy?.stepped?.(event, commands, this.nowMs);
    return this.#heed(commands);
  }

  configure(changes: CoreChanges, balancer: BalancerName = 'program-affinity'): Command[] {
    return this.#heed(this.scheduler.configure(coreConfig(changes), balancerNamed(balancer), millis(this.nowMs)));
  }

  /**
   * Lets time pass up to `untilMs`, waking the scheduler whenever it asked for that. Returns the resulting commands.
   */
  passTo(untilMs: number): Command[] {
    const brought: Command[] = [];
    for (let wakes = 0; this.wakeAtMs <= untilMs; wakes += 1) {
      if (wakes > 10_000) throw new Error(`wakes without end at ${this.nowMs} ms`);
      this.nowMs = Math.max(this.nowMs, this.wakeAtMs);
      this.wakeAtMs = Infinity;
      brought.push(...this.tell({ type: 'woke' }));
    }
    this.nowMs = untilMs;
    return brought;
  }

  pass(durationMs: number): Command[] {
    return this.passTo(this.nowMs + durationMs);
  }

  join(engine: string, facts: EngineFacts = {}): Command[] {
    return this.tell(joined(engine, facts));
  }

  /** This desk, with these engines. */
  with(engines: string | readonly string[], facts: EngineFacts = {}): this {
    for (const engine of [engines].flat()) this.join(engine, facts);
    return this;
  }

  arrive(call: string, facts: ArrivalFacts = {}): Command[] {
    return this.tell(arrived(call, facts));
  }

  finish(call: string, facts: FinishFacts = {}): Command[] {
    return this.tell(finished(call, facts));
  }

  /** The call comes, and ends after this time. */
  serve(
    call: string,
    facts: ArrivalFacts = {},
    { afterMs = 0, ...used }: FinishFacts & { afterMs?: number } = {},
  ): void {
    this.arrive(call, facts);
    if (afterMs > 0) this.pass(afterMs);
    this.finish(call, used);
  }

  fail(call: string, failure: CallFailed['failure'], ms?: number): Command[] {
    return this.tell(failed(call, failure, ms));
  }

  /** The last dispatch of the call so far. */
  dispatchOf(call: string): Dispatch | undefined {
    return this.log.filter((command) => command.type === 'dispatch').findLast((each) => each.call === callId(call));
  }

  refusalOf(call: string): Reject['refusal'] | undefined {
    return this.log.filter((command) => command.type === 'reject').findLast((each) => each.call === callId(call))
      ?.refusal;
  }

  engine(id: string): EngineView {
    return this.scheduler.views.engine(engineId(id))!;
  }

  program(id: string): ProgramView {
    return this.scheduler.views.program(programId(id))!;
  }

  #heed(commands: Command[]): Command[] {
    for (const command of commands) {
      if (command.type === 'wakeAt') this.wakeAtMs = command.at;
      else this.log.push(command);
    }
    return commands.filter((command) => command.type !== 'wakeAt');
  }
}

/** The dispatches among these commands, in order, as `call@engine`. */
export function sentOut(commands: readonly Command[]): string[] {
  return commands.flatMap((command) => (command.type === 'dispatch' ? [`${command.call}@${command.engine}`] : []));
}

/** The program makes a call of this time and these sizes, and it ends. */
export function use(desk: Desk, program: string, durationMs: number, prompt: number, output: number): void {
  const call = `${program}-${desk.nowMs}`;
  desk.arrive(call, { program, prompt });
  desk.pass(durationMs);
  desk.finish(call, { prompt, output });
}

/** The order in which waiting calls go out, one at a time. */
export function orderFrom(desk: Desk, running: string): string[] {
  const order: string[] = [];
  for (let call: string | undefined = running; call !== undefined;) {
    const [next] = sentOut(desk.finish(call));
    call = next?.split('@')[0];
    if (call !== undefined) order.push(call);
  }
  return order;
}
