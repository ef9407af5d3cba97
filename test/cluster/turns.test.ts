import { describe, expect, it } from 'vitest';
import { gatewayId, Participant, type Answer } from '../../cluster/index.js';
import { MemoryStore, type Way } from '../../sim/virtual/memory-store.js';
import { Agenda, Appointment, RANK } from '../../sim/virtual/agenda.js';
import { engineId, NO_STEPS, tokens, type EngineDemand, type Event } from '../../src/index.js';

const ENGINE = engineId('e');
const DELAY_MS = 5;
const CALL_MS = 1000;
const RUN_MS = 120_000;

/** Time that passes in the test alone. */
class World {
  readonly agenda = new Agenda();
  inFlight = 0;
  mostInFlight = 0;

  after(ms: number, happen: () => void): void {
    this.agenda.set(new Appointment(RANK.report, happen), this.agenda.nowMs + ms);
  }

  /** Each message takes as long. */
  get way(): Way {
    return {
      carry: (deliver) => this.after(DELAY_MS, deliver),
      ask: <T>(reach: () => T): Answer<T> => ({
        then: <R>(use: (value: T) => R) => {
          this.after(DELAY_MS, () => {
            const value = reach();
            this.after(DELAY_MS, () => use(value));
          });
          return undefined as unknown as Answer<R>;
        },
      }),
    };
  }

  run(untilMs: number): void {
    while (this.agenda.nowMs < untilMs) this.agenda.take()?.happen();
  }
}

/** A gateway whose clients always have another call, all of one level. */
class Busy {
  readonly #participant: Participant;
  #slots = 0;
  #inFlight = 0;
  #startedAtMs = 0;
  starts = 0;
  longestWaitMs = 0;

  constructor(
    private readonly world: World,
    store: MemoryStore,
    name: string,
    private readonly window: number,
  ) {
    const alarm = new Appointment(RANK.report, () => this.#ring());
    this.#participant = new Participant({
      clock: {
        nowMs: () => world.agenda.nowMs,
        wakeAt: (atMs, ring) => {
          this.#ring = ring;
          world.agenda.set(alarm, Math.max(world.agenda.nowMs, atMs));
        },
        stop: () => undefined,
      },
      emit: (event) => this.#hear(event),
      views: () => ({ demands: () => [this.#demand], record: () => undefined, waiting: 9 }),
      programsMax: 1,
      changed: () => undefined,
    });
    this.#participant.shared = store.join(gatewayId(name), this.#participant, world.way);
    this.#participant.announced({ type: 'engineJoined', engine: ENGINE, models: [] });
    this.#participant.stepped();
  }

  #ring = (): void => undefined;

  get #demand(): EngineDemand {
    const none = tokens(0);
    const held = { loadTokens: none, activeTokens: none, claimTokens: none, cachedTokens: none };
    return { engine: ENGINE, window: this.window, inFlight: this.#inFlight, weight: 0, steps: NO_STEPS, ended: 0, waiting: [9], ...held }; // prettier-ignore
  }

  #hear(event: Event): void {
    if (event.type !== 'engineShared') return;
    this.#slots = event.slots ?? Infinity;
    this.#start();
  }

  #start(): void {
    const { world } = this;
    for (; this.#inFlight < this.#slots; this.#inFlight += 1) {
      const { nowMs } = world.agenda;
      this.longestWaitMs = Math.max(this.longestWaitMs, nowMs - this.#startedAtMs);
      this.#startedAtMs = nowMs;
      this.starts += 1;
      world.inFlight += 1;
      world.mostInFlight = Math.max(world.mostInFlight, world.inFlight);
      world.after(CALL_MS, () => {
        this.#inFlight -= 1;
        world.inFlight -= 1;
        this.#start();
        this.#participant.stepped();
      });
    }
    this.#participant.stepped();
  }
}

const CASES = [1, 2, 3, 4].flatMap((window) => [2, 3, 4, 5, 6].map((gateways) => [window, gateways] as const));

describe('gateways whose calls always wait', () => {
  it.each(CASES)('share a window of %i among %i, each in turn', (window, gateways) => {
    const world = new World();
    const store = new MemoryStore({ programsMax: 1, keysMax: 1 });
    const busy = Array.from({ length: gateways }, (_, i) => new Busy(world, store, `g${i}`, window));
    world.run(RUN_MS);
    const starts = busy.map((gateway) => gateway.starts);
    const equal = starts.reduce((sum, each) => sum + each, 0) / gateways;
    expect(world.mostInFlight).toBe(window);
    // A slot that changes hands is idle for two or three rounds.
    expect(equal * gateways).toBeGreaterThan(0.9 * window * (RUN_MS / CALL_MS));
    expect(Math.min(...starts)).toBeGreaterThan(0.85 * equal);
    expect(Math.max(...starts)).toBeLessThan(1.15 * equal);
    const turns = Math.ceil(gateways / window) + 1;
    expect(Math.max(...busy.map(({ longestWaitMs }) => longestWaitMs))).toBeLessThan(turns * 1.1 * CALL_MS);
  });
});
