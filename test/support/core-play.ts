import { BALANCER_NAMES, makeBalancer } from '../../loadbalancer/index.js';
import { HORIZON_STEPS, STEPS_PER_HALF_LIFE } from '../../src/policies/idle-steps.js';
import {
  millis,
  POLICY_NAMES,
  ADMISSION_NAMES,
  FORESIGHT_NAMES,
  RETENTION_NAMES,
  TENANTS_NAMES,
  Scheduler,
  type Command,
  type Event,
  type SchedulerConfig,
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
  hungUp,
  joined,
  lost,
  progressed,
  reported,
  started,
  woke,
} from './core-events.js';
import type { Moment, PlayOptions, WatchingPolicy } from './core-moment.js';
import { Dice } from './dice.js';

/** All policies and balancers: a new one in its table is covered automatically. */
export const POLICIES = POLICY_NAMES;
export const BALANCERS = BALANCER_NAMES;

export type { Moment, PlayOptions } from './core-moment.js';

const MODELS = ['m', 'n'];
const ROUNDS_MAX = 2_000;

/** Plays a random sequence of events that depends on the options alone. Returns every command. */
export function play(options: PlayOptions): Command[] {
  return new Player(options).run();
}

/** Number of random runs for each statement; set by `TEST_SEQUENCES`. */
const SEQUENCES = Number(process.env['TEST_SEQUENCES'] ?? 60);

/**
 * Plays many random sequences; a failure names its seed. As a function, `options` can reset its records for each run.
 */
export function playMany(options: Omit<PlayOptions, 'seed'> | ((seed: number) => Omit<PlayOptions, 'seed'>)): void {
  for (let seed = 0; seed < SEQUENCES; seed += 1) {
    try {
      play({ ...(typeof options === 'function' ? options(seed) : options), seed });
    } catch (error) {
      throw new Error(`in sequence ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}

class Player {
  readonly #dice: Dice;
  /** Of hosts and silences alone: the rest of a sequence is the same without them. */
  readonly #hosts: Dice;
  readonly #scheduler: Scheduler;
  readonly #policy: WatchingPolicy | undefined;
  readonly #book = new Book();
  readonly #log: Command[] = [];
  readonly #engines: readonly string[];
  #config: SchedulerConfig;
  #nowMs: number;
  #wakeAtMs = Infinity;
  #calls = 0;
  #last: Moment | undefined;

  constructor(readonly options: PlayOptions) {
    const dice = (this.#dice = new Dice(options.seed));
    this.#hosts = new Dice(options.seed + 1_000_000);
    this.#config = this.#randomConfig();
    const { policy } = options;
    this.#policy = typeof policy === 'function' ? policy() : undefined;
    this.#scheduler = new Scheduler(this.#config, this.#randomBalancer(), this.#policy);
    this.#engines = ['A', 'B', 'C'].slice(0, dice.int(1, 3));
    this.#nowMs = dice.pick([0, 12.5, 1_000_000]);
  }

  run(): Command[] {
    if (this.options.seed % 5 === 0) this.#tell({ ...joined('expected', { models: MODELS }), down: true });
    for (const engine of this.#engines) if (this.#dice.chance(0.9)) this.#join(engine);
    const { steps = 40 } = this.options;
    for (let step = 0; step < steps; step += 1) {
      this.#passTime();
      this.#act();
    }
    this.#closeDown();
    if (this.#last !== undefined) this.options.onEnd?.(this.#last);
    return this.#log;
  }

  #randomConfig(): SchedulerConfig {
    const dice = this.#dice;
    const windowInitial = dice.int(1, 3);
    const config = coreConfig({
      policy: {
        name: typeof this.options.policy === 'string' ? this.options.policy : dice.pick(POLICIES),
        firstQuantumMs: dice.int(20, 400),
        countPrompt: dice.chance(0.5),
        foresight: FORESIGHT_NAMES[this.options.seed % FORESIGHT_NAMES.length]!,
        tenants: TENANTS_NAMES[Math.floor(this.options.seed / 3) % TENANTS_NAMES.length]!,
        tenantWeights: this.options.seed % 2 === 0 ? { s: 3 } : {},
      },
      starvation: { beta: dice.int(1, 10), floorMs: dice.int(20, 300), waitMsMax: dice.int(100, 4_000) },
      admission: {
        window: dice.pick(['auto', 'auto', 'adaptive', 1, 2, 3]),
        windowInitial,
        windowMin: dice.int(1, windowInitial),
        windowMax: dice.int(windowInitial, 6),
        gate: dice.pick([0, 0.5, 0.9, 1]),
        halfLifeMs: dice.pick([160, 333.3, 1_600]),
        batching: dice.pick(ADMISSION_NAMES),
        retention: dice.pick(RETENTION_NAMES),
        forecast: dice.pick(['learnt', 'none']),
        sharedPrefixes: dice.pick(['family', 'family', 'none']),
        outputReserveTokens: dice.int(0, 100),
        reserveMs: dice.pick([0, 50, 500, 100_000]),
        turnMs: dice.pick([0, 100, 2_000]),
      },
      balancer: { spillMs: dice.pick([0, 100, 1_000, 100_000]) },
      limits: {
        programsMax: dice.int(1, 12),
        queuedMax: dice.int(3, 30),
        queuedPerTenantMax: dice.int(2, 15),
        attemptsMax: dice.int(1, 3),
      },
      timeouts: {
        queueMs: dice.pick([300, 2_000, 50_000]),
        noEngineMs: dice.pick([0, 300, 2_000]),
        leaseMs: dice.pick([200, 3_000, 50_000]),
      },
    });
    if (this.options.ghosts)
      return { ...config, timeouts: { ...config.timeouts, ghostMs: this.options.seed % 2 === 0 ? 400 : 5_000 } };
    return this.options.adjust?.(config) ?? config;
  }

  #randomBalancer() {
    const { balancer } = this.options;
    if (typeof balancer === 'function') return balancer();
    const name = balancer ?? this.#dice.pick(BALANCERS);
    return makeBalancer({ name, thresholdTokens: 200, adaptThreshold: this.#dice.chance(0.3) });
  }

  #may(what: 'configure' | 'trouble'): boolean {
    return this.options.without?.includes(what) !== true;
  }

  /** Usually a little time, sometimes none, rarely much; now and then the driver is late for its wakes. */
  #passTime(): void {
    const dice = this.#dice;
    const durationMs = dice.pick([0, 0, 0, dice.int(1, 30), dice.int(1, 100), dice.int(1, 600)]);
    const untilMs = this.#nowMs + (dice.chance(0.01) ? dice.int(1_000, 60_000) : durationMs);
    if (dice.chance(0.8)) this.#wakeUntil(untilMs);
    this.#nowMs = untilMs;
  }

  #wakeUntil(untilMs: number): void {
    for (let wakes = 0; this.#wakeAtMs <= untilMs; wakes += 1) {
      if (wakes > ROUNDS_MAX * 10) throw new Error(`wakes without end at ${this.#nowMs} ms`);
      this.#nowMs = Math.max(this.#nowMs, this.#wakeAtMs);
      this.#wakeAtMs = Infinity;
      this.#tell(woke);
    }
  }

  #act(): void {
    const dice = this.#dice;
    const roll = dice.share();
    if (roll < 0.3) this.#arrive();
    else if (roll < 0.34) for (let left = dice.int(3, 10); left > 0; left -= 1) this.#arrive();
    else if (roll < 0.6) this.#withRunning((call) => this.#finish(call));
    else if (roll < 0.65) this.#withRunning((call) => this.#tell(progressed(call, dice.int(0, 200))));
    else if (roll < 0.67) this.#withRunning((call) => this.#tell(started(call)));
    else if (roll < 0.74) this.#withActive((call) => this.#tell(this.options.ghosts ? hungUp(call) : cancelled(call)));
    else if (roll < 0.77) this.#tell(ended(`${dice.pick(['s', 't'])}/p${dice.int(0, 7)}`));
    else if (roll < 0.81) this.#report();
    else if (roll < 0.83) this.#configure();
    else if (roll < 0.85) this.#stray();
    else if (this.#may('trouble')) this.#trouble();
  }

  #trouble(): void {
    const dice = this.#dice;
    const roll = dice.share();
    const engine = dice.pick(this.#engines);
    if (roll < 0.25) this.#withRunning((call) => this.#tell(failed(call, 'busy', dice.int(0, 400))));
    else if (roll < 0.3) this.#withRunning((call) => this.#tell(failed(call, 'unreached', dice.int(0, 400))));
    else if (roll < 0.45)
      this.#withRunning((call) => this.#tell(failed(call, 'broken', dice.pick([0, dice.int(1, 400)]))));
    else if (roll < 0.55) this.#withRunning((call) => this.#tell(failed(call, 'lost')));
    else if (roll < 0.6) this.#withRunning((call) => this.#tell(failed(call, 'refused')));
    else if (roll < 0.65) this.#tell(lost(engine, this.#hosts.int(0, 200)));
    else if (roll < 0.72) this.#tell(drained(engine));
    else this.#join(engine);
  }

  /** Events about unknown calls and engines: they must have no effect. */
  #stray(): void {
    const dice = this.#dice;
    const over = [...this.#book.calls.values()].filter((call) => call.state === 'over');
    const call = over.length > 0 ? dice.pick(over).id : 'nobody';
    const ofCall = [finished(call), failed(call, 'broken'), cancelled(call), progressed(call, 5)];
    this.#tell(dice.pick([...ofCall, ended('s/nobody'), lost('nowhere'), drained('nowhere'), woke]));
  }

  #arrive(): void {
    const dice = this.#dice;
    const tenant = dice.pick(['s', 't']);
    const number = dice.int(0, 7);
    const make = number % 4;
    const prompt = dice.chance(0.5) ? dice.int(1, 200) : dice.int(201, 1_500);
    this.#tell(
      arrived(`c${this.#calls++}`, {
        tenant,
        program: `${tenant}/p${number}`,
        thread: dice.pick(['', '', 'sub']),
        model: dice.chance(0.85) ? 'm' : 'n',
        prompt,
        ...(dice.chance(0.5) && { max: dice.int(0, 150) }),
        ...(this.options.ghosts && { request: 'x' }),
        // Six of eight programs belong to three families.
        ...(make < 3 && { family: { id: make, tokens: 200 + 100 * make } }),
        ...(number % 2 === 0 && { remaining: { prompt, output: number * this.#calls } }),
      }),
    );
  }

  #finish(call: string): void {
    const dice = this.#dice;
    const booked = this.#book.calls.get(call)!;
    if (dice.chance(0.2)) return this.#tell(finished(call));
    const prompt = Math.max(1, booked.promptTokens + dice.int(-20, 20));
    const output = dice.int(0, 120);
    const cached = dice.int(0, prompt);
    const told = this.options.without?.includes('cached') !== true && { cached };
    this.#tell(finished(call, { prompt, output, ...told }));
  }

  #join(engine: string): void {
    const dice = this.#dice;
    this.#tell(
      joined(engine, {
        models: dice.chance(0.7) ? MODELS : dice.chance(0.8) ? ['m'] : ['n'],
        ...(dice.chance(0.6) && { window: dice.int(1, 4) }),
        ...(dice.chance(0.7) && { capacity: dice.int(500, 4_000) }),
        ...(this.#hosts.chance(0.5) && { host: this.#hosts.int(0, 12_000) }),
        ...(dice.chance(0.2) && { probation: true }),
        ...(this.options.contextMax !== undefined && { contextMax: this.options.contextMax }),
      }),
    );
  }

  #report(): void {
    const dice = this.#dice;
    const engine = dice.pick(this.#engines);
    this.#tell(reported(engine, { waiting: dice.pick([0, 0, 1]), kvUsage: dice.share(), preemptions: dice.int(0, 3) }));
  }

  #configure(): void {
    if (!this.#may('configure')) return;
    this.#config = this.#randomConfig();
    const commands = this.#scheduler.configure(this.#config, this.#randomBalancer(), millis(this.#nowMs));
    this.#heed(undefined, commands);
  }

  #withRunning(act: (call: string) => void): void {
    const running = this.#book.running();
    if (running.length > 0) act(this.#dice.pick(running).id);
  }

  #withActive(act: (call: string) => void): void {
    const active = [...this.#book.active.keys()];
    if (active.length > 0) act(this.#dice.pick(active));
  }

  /** Brings every engine back, lets every call end, and waits for the last lease to expire. */
  #closeDown(): void {
    for (const engine of this.#engines) {
      const host = this.#hosts.int(0, 9_000);
      this.#tell(joined(engine, { models: MODELS, window: 2, capacity: 3_000, host }));
    }
    for (let round = 0; this.#book.active.size > 0; round += 1) {
      if (round > ROUNDS_MAX) throw new Error(`${this.#book.active.size} calls never end`);
      for (const call of this.#book.running()) this.#tell(finished(call.id, { prompt: call.promptTokens, output: 5 }));
      this.#wakeUntil(this.#nowMs + 10);
      this.#nowMs += 10;
    }
    const { timeouts, admission } = this.#config;
    // A claim may outlast its program.
    const overMs = this.#nowMs + timeouts.leaseMs + (HORIZON_STEPS / STEPS_PER_HALF_LIFE) * admission.halfLifeMs;
    this.#wakeUntil(overMs);
    this.#nowMs = overMs;
    this.#tell(woke);
  }

  #tell(event: Event): void {
    const commands = this.#scheduler.step(event, millis(this.#nowMs));
    this.#policy?.stepped?.(event, commands, this.#nowMs);
    this.#heed(event, commands);
  }

  #heed(event: Event | undefined, commands: Command[]): void {
    this.#book.take(event, this.#nowMs, commands);
    for (const command of commands) if (command.type === 'wakeAt') this.#wakeAtMs = command.at;
    this.#log.push(...commands);
    const [book, scheduler, config] = [this.#book, this.#scheduler, this.#config];
    this.#last = { event, nowMs: this.#nowMs, commands, book, scheduler, config };
    this.options.onMoment?.(this.#last);
  }
}
