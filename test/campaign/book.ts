import type { CallId, Command, Event, Millis } from '../../src/index.js';

interface BookedCall {
  /** As `a`, `b` ...: the gateway's own ids differ from run to run. */
  readonly name: string;
  readonly program: string;
  /** Whether its program has not been ended, so that its row shows the call. */
  listed: boolean;
  state: 'waiting' | 'running' | 'over';
  engine: string | undefined;
}

/**
 * What became of every call, as the scheduler's events and commands tell it. Knows nothing of its workings: an event that
 * does not fit the call's state is wrong.
 */
export class Book {
  /** Most calls at once on an engine. */
  windowOf = (): number => Infinity;
  readonly #calls = new Map<string, BookedCall>();
  readonly #programs = new Map<string, string>();

  constructor(
    private readonly say: (text: string) => void,
    private readonly wrong: (text: string) => void,
  ) {}

  get size(): number {
    return this.#calls.size;
  }

  /** The scheduler has taken a step: calls end once, run once at a time, and belong to one tenant's program. */
  step(event: Event, _: Millis, commands: readonly Command[]): void {
    if ('call' in event) this.#told(event);
    else if (event.type === 'programEnded') this.#programEnded(event.program);
    this.commanded(commands);
  }

  /** What the scheduler wants done. */
  commanded(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.type !== 'dispatch' && command.type !== 'reject') continue;
      const call = this.#calls.get(command.call);
      if (call === undefined) return this.wrong(`G1: the scheduler knows a call that never arrived: ${command.call}`);
      if (call.state !== 'waiting') this.wrong(`G1: ${call.name} is ${command.type}ed while it is ${call.state}`);
      if (command.type === 'dispatch' && this.running(command.engine) >= this.windowOf())
        this.wrong(`G8: ${call.name} is dispatched into a full window`);
      this.say(
        command.type === 'reject' ? `${call.name} refused: ${command.refusal}` : `${call.name} -> ${command.engine}`,
      );
      call.state = command.type === 'reject' ? 'over' : 'running';
      call.engine = command.type === 'dispatch' ? command.engine : undefined;
    }
  }

  #programEnded(program: string): void {
    for (const call of this.#calls.values()) if (call.program === program) call.listed = false;
  }

  #told(event: Extract<Event, { readonly call: CallId }>): void {
    const known = this.#calls.get(event.call);
    if (event.type === 'callArrived') {
      const owner = this.#programs.get(event.program) ?? event.tenant;
      this.#programs.set(event.program, owner);
      if (owner !== event.tenant) this.wrong(`G5: program ${event.program} is of ${owner} and of ${event.tenant}`);
      const name = `call ${this.#calls.size}`;
      if (known !== undefined) this.wrong(`G1: ${known.name} arrives twice`);
      const { program } = event;
      const call: BookedCall = { name, program, listed: true, state: 'waiting', engine: undefined };
      this.#calls.set(event.call, call);
      this.say(`${name} of ${event.tenant} arrives`);
      return;
    }
    if (known === undefined) return this.wrong(`G1: ${event.type} of a call that never arrived`);
    this.say(`${known.name}: ${event.type}${event.type === 'callFailed' ? ` (${event.failure})` : ''}`);
    if (known.state === 'over') this.wrong(`G1: ${event.type} of ${known.name}, which is over`);
    if (event.type === 'callStarted' || event.type === 'callProgressed') return;
    const again = event.type === 'callFailed' && event.failure !== 'lost' && event.failure !== 'refused';
    known.state = again ? 'waiting' : 'over';
    known.engine = undefined;
  }

  /** The gateway has ended, and so has every call. */
  close(): void {
    for (const call of this.#calls.values()) if (call.state !== 'over') this.wrong(`G1: ${call.name} never ended`);
  }

  running(engine: string): number {
    return this.#count((call) => call.state === 'running' && call.engine === engine);
  }

  get waiting(): number {
    return this.#count(({ state }) => state === 'waiting');
  }

  get active(): number {
    return this.#count(({ state }) => state !== 'over');
  }

  /** Active calls of programs that have not been ended. */
  get listed(): number {
    return this.#count(({ state, listed }) => state !== 'over' && listed);
  }

  #count(holds: (call: BookedCall) => boolean): number {
    let count = 0;
    for (const call of this.#calls.values()) if (holds(call)) count += 1;
    return count;
  }
}
