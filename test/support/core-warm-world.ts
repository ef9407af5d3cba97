import { makeBalancer } from '../../loadbalancer/index.js';
import {
  millis,
  tokens,
  Scheduler,
  type Command,
  type Event,
  type SchedulerConfig,
  type Warm,
} from '../../src/index.js';
import { Book } from './core-book.js';
import { coreConfig } from './core-config.js';
import {
  arrived,
  cancelled,
  drained,
  ended,
  failed,
  finished,
  joined,
  lost,
  moved,
  shared,
  toolStarted,
  woke,
} from './core-events.js';
import { Dice } from './dice.js';

export interface WarmMoment {
  readonly event: Event;
  readonly nowMs: number;
  readonly commands: readonly Command[];
  readonly book: Book;
  readonly scheduler: Scheduler;
  readonly config: SchedulerConfig;
}

const PROGRAMS = 10;
const FAMILY = { id: 0, tokens: 50 };

/** A core with warms: engines that are idle at times, and whose caches are too small for all idle threads. */
export class WarmWorld {
  readonly #dice: Dice;
  readonly #book = new Book();
  readonly #scheduler: Scheduler;
  readonly #config: SchedulerConfig;
  readonly #prompts = new Map<string, number>();
  #nowMs = 0;
  #wakeAtMs = Infinity;
  #calls = 0;

  /** @param fails whether every warm fails @param onMoment called after each step */
  constructor(
    seed: number,
    private readonly fails: boolean,
    private readonly onMoment: (moment: WarmMoment) => void,
  ) {
    const dice = (this.#dice = new Dice(seed));
    this.#config = coreConfig({
      policy: { foresight: 'learnt', prefetch: 'on' },
      admission: { gate: dice.pick([0, 0.7, 0.9]), windowMax: 4, halfLifeMs: dice.pick([400, 4_000]) },
      timeouts: { leaseMs: 50_000 },
    });
    this.#scheduler = WarmWorld.schedulerOf(this.#config);
  }

  static schedulerOf(config: SchedulerConfig): Scheduler {
    return new Scheduler(
      config,
      makeBalancer({ name: 'program-affinity', thresholdTokens: 50, adaptThreshold: false }),
    );
  }

  run(steps: number): void {
    this.#join('A');
    this.#join('B');
    this.#teach('s');
    for (let step = 0; step < steps; step += 1) {
      this.#passTime(this.#dice.pick([0, 10, 50, 200, 1_000]));
      this.#act();
    }
  }

  /** Programs that run to their ends one after the other, so that the next ones are foreseen. */
  #teach(tenant: string): void {
    for (let program = 0; program < 36; program += 1) {
      for (let call = 0; call < 8; call += 1) {
        const id = this.#arrive(tenant, `o${program}`, '', 60);
        this.#tell(finished(id, { prompt: 60, output: 10, cached: 0, tools: ['read'] }));
        this.#passTime(this.#dice.pick([100, 1_000, 3_000]));
      }
      this.#tell(ended(`${tenant}/o${program}`));
    }
  }

  #act(): void {
    const dice = this.#dice;
    const roll = dice.share();
    const running = this.#book.running();
    if (this.#book.owed.size > 0 && dice.chance(0.2)) this.#moveMemory(dice.pick([...this.#book.owed]));
    else if (roll < 0.3) this.#callAgain();
    else if (roll < 0.8 && running.length > 0) this.#finish(dice.pick(running).id);
    else if (roll < 0.83 && running.length > 0)
      this.#tell(failed(dice.pick(running).id, dice.pick(['busy', 'broken', 'lost']), 50));
    else if (roll < 0.85 && this.#book.active.size > 0) this.#tell(cancelled(dice.pick([...this.#book.active.keys()])));
    else if (roll < 0.87) this.#tell(ended(this.#name()));
    else if (roll < 0.9) this.#tell(toolStarted(this.#name(), 'read', { expectedMs: dice.int(10, 5_000) }));
    else if (roll < 0.91) this.#tell(lost(dice.pick(['A', 'B'])));
    else if (roll < 0.92) this.#tell(drained('B'));
    else if (roll < 0.96) this.#join(dice.pick(['A', 'B']));
    else this.#share('A');
  }

  #name = (): string => `${this.#dice.pick(['s', 't'])}/p${this.#dice.int(0, PROGRAMS - 1)}`;

  #callAgain(): void {
    const dice = this.#dice;
    const tenant = dice.pick(['s', 's', 't']);
    const program = `p${dice.int(0, PROGRAMS - 1)}`;
    const thread = dice.pick(['', '', 'sub']);
    const key = `${program} ${thread}`;
    const prompt = Math.min(1_200, (this.#prompts.get(key) ?? dice.int(100, 600)) + dice.int(0, 100));
    this.#prompts.set(key, prompt);
    this.#arrive(tenant, program, thread, prompt);
  }

  #arrive(tenant: string, program: string, thread: string, prompt: number): string {
    const id = `c${this.#calls++}`;
    this.#tell(arrived(id, { tenant, program: `${tenant}/${program}`, thread, prompt, family: FAMILY }));
    return id;
  }

  #finish(id: string): void {
    const dice = this.#dice;
    const prompt = this.#book.calls.get(id)!.promptTokens;
    const cached = dice.chance(0.9) ? prompt : dice.int(0, prompt);
    this.#tell(finished(id, { prompt, output: dice.int(1, 60), cached, tools: ['read'] }));
  }

  #moveMemory(warm: Warm): void {
    const isOk = !this.fails && this.#book.warms.has(warm) && this.#dice.chance(0.9);
    this.#tell(moved(warm, isOk, this.#dice.int(0, warm.tokens)));
  }

  #join(engine: string): void {
    const dice = this.#dice;
    const capacity = dice.chance(0.9) && { capacity: dice.int(1_500, 4_000) };
    this.#tell(joined(engine, { window: dice.int(1, 4), ...capacity, probation: dice.chance(0.1) }));
  }

  /** Other gateways' part of the engine has changed. */
  #share(engine: string): void {
    const [activeTokens, claimTokens] = [tokens(this.#dice.int(0, 1_500)), tokens(this.#dice.int(0, 1_500))];
    this.#tell(shared(engine, { inFlight: activeTokens > 0 ? 1 : 0, activeTokens, claimTokens }));
  }

  #passTime(ms: number): void {
    const untilMs = this.#nowMs + ms;
    while (this.#wakeAtMs <= untilMs) {
      this.#nowMs = Math.max(this.#nowMs, this.#wakeAtMs);
      this.#wakeAtMs = Infinity;
      this.#tell(woke);
    }
    this.#nowMs = untilMs;
  }

  #tell(event: Event): void {
    const commands = this.#scheduler.step(event, millis(this.#nowMs));
    this.#book.take(event, this.#nowMs, commands);
    for (const command of commands) if (command.type === 'wakeAt') this.#wakeAtMs = command.at;
    this.onMoment({
      event,
      nowMs: this.#nowMs,
      commands,
      book: this.#book,
      scheduler: this.#scheduler,
      config: this.#config,
    });
  }
}
