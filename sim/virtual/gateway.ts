import { millis, type Dispatch, type Command, type Event, type ProgramGone, type Reject } from '../../src/index.js';
import { Appointment, RANK, type Agenda } from './agenda.js';
import type { Steps, GatewayOptions } from './options.js';

export interface GatewayPorts {
  dispatch(dispatch: Dispatch): void;
  reject(command: Reject): void;
  /** Absent: nobody needs to hear of it. */
  readonly programGone?: (command: ProgramGone) => void;
}

/** The scheduler's driver: tells it events, carries out its commands, and keeps its wakes. */
export class Gateway {
  scheduler: Steps;
  #promotions = 0;
  readonly #wake = new Appointment(RANK.wake, () => this.tell({ type: 'woke' }));
  /** Events that came while commands were being carried out: steps never nest. */
  readonly #pending: Event[] = [];
  #telling = false;

  constructor(
    private readonly options: Pick<GatewayOptions, 'scheduler'>,
    private readonly agenda: Agenda,
    private readonly ports: GatewayPorts,
    private readonly stepped: (event: Event) => void = () => undefined,
  ) {
    this.scheduler = options.scheduler();
  }

  /** Calls promoted for waiting too long, over all restarts. */
  get promotions(): number {
    return this.#promotions + (this.scheduler.totals?.promotions ?? 0);
  }

  /** Starts a new scheduler without state. The caller announces the engines to it. */
  restart(): void {
    this.#promotions = this.promotions;
    this.scheduler = this.options.scheduler();
  }

  tell(event: Event): void {
    if (this.#telling) {
      this.#pending.push(event);
      return;
    }
    this.#telling = true;
    for (let next: Event | undefined = event; next !== undefined; next = this.#pending.shift()) {
      for (const command of this.scheduler.step(next, millis(this.agenda.nowMs))) this.#obey(command);
      this.stepped(next);
    }
    this.#telling = false;
  }

  #obey(command: Command): void {
    switch (command.type) {
      case 'dispatch':
        return this.ports.dispatch(command);
      case 'reject':
        return this.ports.reject(command);
      case 'wakeAt':
        return this.agenda.set(this.#wake, Math.max(this.agenda.nowMs, command.at));
      case 'programGone':
        return this.ports.programGone?.(command);
      default:
        command satisfies never;
    }
  }
}
