import pino from 'pino';
import { Network } from './platform.js';
import { startGateway, type Gateway } from '../../sidecar/index.js';
import type { Command } from '../../src/index.js';
import { Dice } from '../../workloads/dice.js';
import { Agent } from './agents.js';
import { responseIdOf } from './answers.js';
import { audit, type Frozen } from './audit.js';
import type { Heard } from './clients.js';
import { Clock } from './clock.js';
import { SimEngine, type Served } from './engines.js';
import { Oracle, type LogLine } from './oracle.js';
import { ATTEMPTS_MAX, TIMES, configOf, drawScenario, type Scenario, type Settings } from './scenario.js';

/** A large stream may be in the gateway with so much: its buffers on both sides. */
const HELD_BYTES_MAX = 200_000;

const BOUNDS = {
  idleMs: TIMES.idleMs,
  // Less the way there and back.
  closeMs: 990,
  silenceMs: ATTEMPTS_MAX * TIMES.firstByteMs + TIMES.idleMs + 2000,
  wholeMs: TIMES.queueMs + ATTEMPTS_MAX * (TIMES.firstByteMs + TIMES.idleMs + 2000) + 5000,
};

/** The gateway and all that is around it, for one seed: nothing in it depends on anything else. */
export class World {
  readonly scenario: Scenario;
  readonly clock = new Clock();
  readonly network: Network;
  readonly engines: SimEngine[];
  readonly oracle: Oracle;
  readonly lines: string[] = [];
  /** The gateway's present configuration. */
  settings: Settings;
  gateway!: Gateway;
  agentsLeft: number;
  readonly #outstanding = new Set<Heard>();
  readonly #responses: string[] = [];
  #stalledMs = 0;

  constructor(seed: number) {
    const scenario = (this.scenario = drawScenario(seed));
    this.settings = scenario.settings;
    this.agentsLeft = scenario.agents;
    this.clock.now = 1000 + Dice.of(seed, 1).share();
    this.network = new Network(this.clock, seed);
    this.oracle = new Oracle(() => this.clock.now - this.#stalledMs, this.say);
    const ports = { clock: this.clock, say: this.say, began: (served: Served) => this.oracle.began(served) };
    this.engines = scenario.engines.map(
      ({ id, model }, i) => new SimEngine(id, model, Dice.of(seed, 50 + i).int(0, 3), seed, i, ports),
    );
    for (const engine of this.engines) this.network.hosts.set(`${engine.id}:80`, engine);
  }

  readonly say = (text: string): void => {
    this.lines.push(`${this.clock.now.toFixed(1)} ${text}`);
  };

  install(): void {
    this.clock.install();
    this.network.install();
  }

  uninstall(): void {
    this.network.uninstall();
    this.clock.uninstall();
  }

  /** Starts the gateway, and lets clients come. */
  async start(): Promise<void> {
    const { scenario, oracle } = this;
    const { book } = oracle;
    const write = (line: string): void => oracle.logged(JSON.parse(line) as LogLine);
    const options = {
      log: pino({ level: 'info' }, { write }),
      recorder: {
        step: book.step.bind(book),
        configured: (_: unknown, __: unknown, commands: readonly Command[]) => book.commanded(commands),
      },
    };
    this.gateway = await this.until(startGateway(configOf(scenario, this.settings), options), 5000);
    oracle.calm = scenario.kind === 'calm';
    book.windowOf = () => (this.settings.policy === 'pass-through' ? Infinity : this.settings.window);
    for (let i = 0; i < scenario.agents; i++) new Agent(scenario.seed, i, scenario.keys, this.#agentPorts());
  }

  /** Time goes on to the next thing that happens, and all that follows from it happens. */
  async step(): Promise<void> {
    this.clock.fireNext();
    await this.clock.settle();
    this.oracle.check();
    this.#checkHeard();
  }

  /** Time goes on to that moment. */
  async runTo(at: number): Promise<void> {
    while (this.clock.next <= at) await this.step();
    this.clock.now = Math.max(this.clock.now, at);
  }

  /** Time goes on until it holds. */
  async runUntil(holds: () => boolean, msMax: number): Promise<boolean> {
    const end = this.clock.now + msMax;
    while (!holds() && this.clock.next <= end) await this.step();
    return holds();
  }

  /** Time goes on until the promise has settled. */
  async until<T>(promise: Promise<T>, msMax: number): Promise<T> {
    let settled = false;
    void promise.then(
      () => (settled = true),
      () => (settled = true),
    );
    await this.clock.settle();
    if (!(await this.runUntil(() => settled, msMax))) throw new Error(`did not come within ${msMax} ms`);
    return promise;
  }

  /** The process stands still: timers are late by then, and nothing is read meanwhile. */
  stall(ms: number): void {
    this.say(`the process stands still for ${ms} ms`);
    this.clock.now += ms;
    this.#stalledMs += ms;
  }

  reload(settings: Settings): void {
    this.settings = settings;
    const { engines, window, policy, queuedMax, tenants } = settings;
    this.say(`reload: ${engines.join()} window ${window} ${policy} queue ${queuedMax} tenants ${tenants.join()}`);
    this.gateway.reload(configOf(this.scenario, settings));
  }

  get frozen(): Frozen {
    const { clock, network, say } = this;
    const now = async (): Promise<void> => {
      await clock.settle();
      while (clock.next <= clock.now) await this.step();
    };
    return { clock, network, say, now, wrong: (text) => this.oracle.wrong(`G2: ${text}`) };
  }

  audit(counts: 'views' | 'metrics'): Promise<void> {
    return audit(this.frozen, this.oracle, counts);
  }

  /** Follows a request to its end. */
  readonly asked = (heard: Heard): void => {
    this.#outstanding.add(heard);
  };

  readonly ended = (heard: Heard): void => {
    this.#outstanding.delete(heard);
    const { rid, path, method } = heard.ask;
    if (method === 'POST' && path === '/v1/responses') this.#responses.push(responseIdOf(rid));
    this.oracle.ended(heard, BOUNDS);
  };

  #agentPorts() {
    const { clock, network, say, asked, ended } = this;
    return {
      clock,
      network,
      say,
      asked,
      ended,
      responses: this.#responses,
      wrong: (text: string) => this.oracle.wrong(`G2: ${text}`),
      agentDone: () => void (this.agentsLeft -= 1),
    };
  }

  /** Open streams are never silent for long, and what slow readers have not taken is not in the gateway. */
  #checkHeard(): void {
    for (const heard of this.#outstanding) {
      const { ask, connection, sent, left, sentAt, lastAt } = heard;
      if (!sent || left || ask.lies) continue;
      const silentMs = this.clock.now - this.#stalledMs - Math.max(sentAt, lastAt);
      const patience = ask.stream ? BOUNDS.silenceMs : BOUNDS.wholeMs;
      if (silentMs > patience + ask.holdMs)
        this.oracle.wrong(`G6: the client of ${ask.rid} has heard nothing for long`);
      if (ask.holdMs === 0 || connection.wire === undefined) continue;
      const heldBytes = this.oracle.readFor(ask.rid) - (connection.wire.written - heard.writtenBefore);
      if (heldBytes > HELD_BYTES_MAX) this.oracle.wrong(`G7: the gateway holds too much for ${ask.rid}`);
    }
  }
}
