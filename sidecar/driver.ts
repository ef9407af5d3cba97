import {
  endsCall,
  Scheduler,
  millis,
  type Balancer,
  type CallArrived,
  type CallId,
  type Command,
  type Dispatch,
  type Event,
  type Millis,
  type ProgramGone,
  type Reject,
  type Views,
  type WaitView,
} from '../src/index.js';
import type { Config } from './config/index.js';
import { ExpectedWaits } from './watch/expected-waits.js';
import { thrifty } from './watch/thrifty.js';
import { WaitCauses } from './watch/wait-causes.js';

/** Receives the scheduler's decisions on a call. */
export interface CallOwner {
  dispatched(command: Dispatch): void;
  rejected(command: Reject): void;
}

/** Receives all input of the scheduler in order. Replaying it through another scheduler gives the same commands. */
export interface Recorder {
  step(event: Event, now: Millis, commands: readonly Command[]): void;
  configured(config: Config, now: Millis, commands: readonly Command[]): void;
}

export interface DriverPorts {
  readonly programGone: (gone: ProgramGone) => void;
  /** The scheduler found an invariant broken, and continues. */
  readonly violated: (message: string) => void;
  readonly recorders: readonly Recorder[];
}

/** Longest delay of setTimeout; a later wake takes several sleeps. */
const SLEEP_MS_MAX = 2 ** 31 - 1;

/** Drives the scheduler in real time: clock, timer, events, and commands. Each call has one owner until its end. */
export class Driver {
  /** Settings, totals, and state as of its last step. */
  readonly scheduler: Scheduler;
  readonly expected = new ExpectedWaits();
  readonly causes = new WaitCauses();
  /** Why calls wait, and the waiting calls, counted. Where many wait, they may be as of a moment ago. */
  readonly waits = thrifty(() => this.#look());
  readonly queue = thrifty(() => this.views.queue());
  /** In cells to be emptied: V8's old tables of a Map keep all later ones, and copying them took a tenth of all CPU. */
  readonly #owners = new Map<CallId, { owner: CallOwner | undefined }>();
  /** Events that arrived while commands were carried out, because steps never nest. */
  readonly #pending: Event[] = [];
  #stepping = false;
  #wakeAt = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  constructor(
    config: Config,
    balancer: Balancer,
    private readonly ports: DriverPorts,
  ) {
    this.scheduler = new Scheduler(config, balancer, undefined, ports.violated);
  }

  /** The clock of all events' timestamps. */
  now(): Millis {
    return millis(performance.now());
  }

  get callsInSystem(): number {
    return this.#owners.size;
  }

  /** Read-only state as of now. */
  get views(): Views {
    return this.scheduler.views.at(this.now());
  }

  /** Adds a call; `owner` receives its commands, perhaps before this returns. */
  arrive(event: CallArrived, owner: CallOwner): void {
    this.#owners.set(event.call, { owner });
    this.emit(event);
  }

  emit(event: Event): void {
    this.#pending.push(event);
    if (!this.#stepping) this.#drain();
  }

  /** Replaces the scheduler's settings; no call is lost. */
  configure(config: Config, balancer: Balancer): void {
    const now = this.now();
    const commands = this.scheduler.configure(config, balancer, now);
    for (const recorder of this.ports.recorders) recorder.configured(config, now, commands);
    this.#carryOut(commands);
    this.#drain();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #look(): ReadonlyMap<CallId, WaitView> {
    const waits = new Map(this.views.waits());
    this.expected.observe(waits, this.now());
    this.causes.observe(waits);
    return waits;
  }

  #drain(): void {
    for (let event = this.#pending.shift(); event !== undefined; event = this.#pending.shift()) {
      if (endsCall(event)) this.#release(event.call);
      const now = this.now();
      const commands = this.scheduler.step(event, now);
      for (const recorder of this.ports.recorders) recorder.step(event, now, commands);
      this.#carryOut(commands);
    }
  }

  #carryOut(commands: readonly Command[]): void {
    this.#stepping = true;
    try {
      for (const command of commands) this.#obey(command);
    } finally {
      this.#stepping = false;
    }
  }

  #obey(command: Command): void {
    switch (command.type) {
      case 'dispatch':
        this.expected.dispatched(command.call, this.now());
        this.#owners.get(command.call)?.owner?.dispatched(command);
        return;
      case 'reject':
        this.#release(command.call)?.rejected(command);
        return;
      case 'programGone':
        this.ports.programGone(command);
        return;
      case 'wakeAt':
        this.#wakeAt = command.at;
        this.#arm();
        return;
      default:
        command satisfies never;
    }
  }

  #release(call: CallId): CallOwner | undefined {
    this.expected.left(call);
    const cell = this.#owners.get(call);
    if (cell === undefined) return undefined;
    this.#owners.delete(call);
    const { owner } = cell;
    cell.owner = undefined;
    return owner;
  }

  /** Sleeps until the wake. A timer set for an earlier time is kept; when it fires, it sleeps again. */
  #arm(): void {
    if (this.#timerAt <= this.#wakeAt) return;
    clearTimeout(this.#timer);
    const delay = Math.min(Math.max(0, this.#wakeAt - performance.now()), SLEEP_MS_MAX);
    this.#timerAt = this.#wakeAt;
    // Rounded up, because a timer that fires early, within the same millisecond, would only be set again.
    this.#timer = setTimeout(() => this.#woke(), Math.ceil(delay));
  }

  #woke(): void {
    this.#timerAt = Infinity;
    if (performance.now() < this.#wakeAt) return this.#arm();
    this.#wakeAt = Infinity;
    this.emit({ type: 'woke' });
  }
}
