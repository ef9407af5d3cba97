import { engineId } from '../../src/index.js';
import type { Dice } from '../../workloads/index.js';
import { Appointment, RANK, type Agenda } from './agenda.js';
import { exponential, type Draws } from './faults.js';
import type { Gateway } from './gateway.js';
import type { Job } from './job.js';
import type { WorldOptions } from './options.js';
import { Replica, type EngineResult, type ReplicaPorts } from './replica.js';
import { wholeFrom } from './source.js';
import { engineJoined } from './told.js';

/** The gateway's default scrape interval. */
const REPORT_MS = 2000;
/** Reports without calls, all alike, after which reports pause until a call arrives. */
const IDLE_REPORTS_MAX = 1000;

/** The engines: their load reports, and their losses and returns. */
export class Fleet {
  readonly #replicas: readonly Replica[];
  /** Number of reports since the last call; minus infinity while calls exist. */
  #idleReports = 0;
  readonly #paused: Appointment[] = [];

  /** @param ports `dropped` receives the calls of an engine when it is lost */
  constructor(
    private readonly options: Pick<WorldOptions, 'engines' | 'engine' | 'conditions'>,
    private readonly agenda: Agenda,
    private readonly gateway: Pick<Gateway, 'tell'>,
    private readonly ports: ReplicaPorts & { dropped(jobs: readonly Job[]): void },
  ) {
    const { engines, engine } = options;
    wholeFrom(1, 'engines', engines);
    this.#replicas = Array.from({ length: engines }, (_, index) => new Replica(index, engine, agenda, ports));
  }

  get contextTokensMax(): number {
    return this.#first.engine.maxModelLen;
  }

  get blocks(): number {
    return this.#first.engine.kv.size;
  }

  get #first(): Replica {
    return this.#replicas[0] as Replica;
  }

  open(draws: Draws): void {
    for (const replica of this.#replicas) {
      this.#join(replica, false);
      const report = new Appointment(RANK.report, () => {
        this.#report(replica);
        this.#idleReports += 1;
        if (this.#idleReports > IDLE_REPORTS_MAX * this.options.engines) this.#paused.push(report);
        else this.agenda.set(report, this.agenda.nowMs + REPORT_MS);
      });
      this.agenda.set(report, 0);
    }
    this.#planLosses(draws);
  }

  /** Announces the present engines to a gateway that has lost its state. */
  joinAgain(): void {
    for (const replica of this.#replicas) if (replica.isUp) this.#join(replica, false);
  }

  get(engine: string): Replica {
    return this.#replicas.find(({ id }) => id === engine) as Replica;
  }

  /** A call arrives: reports resume, at their regular times. */
  resumeReports(): void {
    this.#idleReports = -Infinity;
    for (const report of this.#paused.splice(0))
      this.agenda.set(report, Math.ceil(this.agenda.nowMs / REPORT_MS) * REPORT_MS);
  }

  idle(): void {
    this.#idleReports = 0;
  }

  results(): EngineResult[] {
    return this.#replicas.map((replica) => replica.result());
  }

  #join({ id, engine }: Replica, probation: boolean): void {
    this.gateway.tell(engineJoined(id, this.options.engine, engine, probation));
  }

  #report(replica: Replica): void {
    if (!replica.isUp) return;
    this.gateway.tell({ type: 'engineReported', engine: engineId(replica.id), ...replica.load(this.agenda.nowMs) });
  }

  #planLosses(draws: Draws): void {
    const { engineLoss } = this.options.conditions ?? {};
    if (engineLoss === undefined) return;
    const { meanMs, atMs, restartMs } = engineLoss;
    atMs.forEach((lostMs, turn) => {
      const replica = this.#replicas[turn % this.#replicas.length] as Replica;
      this.agenda.at(RANK.fault, lostMs, () => this.#lose(replica, restartMs, () => undefined));
    });
    if (meanMs === undefined) return;
    for (const replica of this.#replicas)
      this.#planLoss(replica, meanMs, restartMs, draws.ofEngine('loss', replica.index));
  }

  #planLoss(replica: Replica, meanMs: number, restartMs: number, dice: Dice): void {
    this.agenda.at(RANK.fault, this.agenda.nowMs + exponential(dice.share(), meanMs), () =>
      this.#lose(replica, restartMs, () => this.#planLoss(replica, meanMs, restartMs, dice)),
    );
  }

  #lose(replica: Replica, restartMs: number, back: () => void): void {
    // A set time may come while the engine is down.
    if (!replica.isUp) return back();
    const dropped = replica.lose(this.agenda.nowMs);
    this.gateway.tell({ type: 'engineLost', engine: engineId(replica.id) });
    this.ports.dropped(dropped);
    this.agenda.at(RANK.fault, this.agenda.nowMs + restartMs, () => {
      replica.isUp = true;
      this.#join(replica, true);
      // Its next good probe proves it, if no call has by then.
      this.agenda.at(RANK.report, this.agenda.nowMs + REPORT_MS, () => replica.isUp && this.#join(replica, false));
      back();
    });
  }
}
