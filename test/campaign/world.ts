import 'ioredis';
import pino from 'pino';
import { Network, type Door } from './platform.js';
// Loaded beforehand: the gateway loads it only when it needs it, which takes real time.
import '../../sidecar/cluster/open.js';
import { startGateway, type Gateway } from '../../sidecar/index.js';
import type { Command, Event, Millis } from '../../src/index.js';
import { Dice } from '../../workloads/dice.js';
import { Agent } from './agents.js';
import { responseIdOf } from './answers.js';
import { audit, type Frozen } from './audit.js';
import type { Heard } from './clients.js';
import { Clock } from './clock.js';
import { SimEngine, type Served } from './engines.js';
import { Oracle, type LogLine } from './oracle.js';
import { ATTEMPTS_MAX, STORE, TIMES, configOf, drawScenario, type Scenario, type Settings } from './scenario.js';
import { SimStore } from './store.js';
import { Windows } from './windows.js';

/** A large stream may be in the gateway with so much: its buffers on both sides. */
const HELD_BYTES_MAX = 200_000;

const BOUNDS = {
  idleMs: TIMES.idleMs,
  // Less the way there and back.
  closeMs: 990,
  silenceMs: ATTEMPTS_MAX * TIMES.firstByteMs + TIMES.idleMs + 2000,
  wholeMs: TIMES.queueMs + ATTEMPTS_MAX * (TIMES.firstByteMs + TIMES.idleMs + 2000) + 5000,
};

/** One gateway, and what is known of it. */
export class Node {
  gateway!: Gateway;

  constructor(
    readonly index: number,
    readonly door: Door,
    readonly oracle: Oracle,
  ) {}
}

/** The gateways and all that is around them, for one seed: nothing in it depends on anything else. */
export class World {
  readonly scenario: Scenario;
  readonly clock = new Clock();
  readonly network: Network;
  readonly engines: SimEngine[];
  readonly nodes: readonly Node[];
  readonly store: SimStore | undefined;
  readonly windows: Windows;
  readonly lines: string[] = [];
  /** The gateways' present configuration. */
  settings: Settings;
  agentsLeft: number;
  readonly #outstanding = new Set<Heard>();
  readonly #nodeOf = new Map<string, Node>();
  readonly #responses: string[] = [];
  #stalledMs = 0;

  constructor(seed: number, gateways: number) {
    const scenario = (this.scenario = drawScenario(seed, gateways));
    this.settings = scenario.settings;
    this.agentsLeft = scenario.agents;
    this.clock.now = 1000 + Dice.of(seed, 1).share();
    this.network = new Network(this.clock, seed, gateways);
    this.nodes = this.network.doors.map((door, index) => {
      const say = gateways === 1 ? this.say : (text: string) => this.say(`g${index}: ${text}`);
      return new Node(index, door, new Oracle(() => this.clock.now - this.#stalledMs, say));
    });
    this.windows = new Windows(this);
    if (gateways > 1) this.network.hosts.set(`${STORE.host}:6379`, (this.store = new SimStore(this.clock)));
    const began = (served: Served) => this.#nodeAsked(served.rid).oracle.began(served);
    const ports = { clock: this.clock, say: this.say, began };
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

  /** Starts the gateways, and lets clients come. */
  async start(): Promise<void> {
    const { scenario } = this;
    for (const node of this.nodes) await this.#startNode(node);
    for (let i = 0; i < scenario.agents; i++) new Agent(scenario.seed, i, scenario.keys, this.#agentPorts());
  }

  async #startNode(node: Node): Promise<void> {
    const { scenario } = this;
    const { oracle } = node;
    const { book } = oracle;
    const write = (line: string): void => oracle.logged(JSON.parse(line) as LogLine);
    const options = {
      log: pino({ level: 'info' }, { write }),
      recorder: {
        step: (event: Event, now: Millis, commands: readonly Command[]) => {
          book.step(event, now, commands);
          this.windows.check(commands);
        },
        configured: (_: unknown, __: unknown, commands: readonly Command[]) => book.commanded(commands),
      },
    };
    node.gateway = await this.until(startGateway(configOf(scenario, this.settings, node.index), options), 5000);
    oracle.calm = scenario.kind === 'calm';
    book.windowOf = () => (this.settings.policy === 'pass-through' ? Infinity : this.settings.window);
  }

  /** Something is wrong with the world as a whole. */
  readonly wrong = (text: string): void => this.#nodeAsked('').oracle.wrong(text);

  /** Whose request it is: of what a gateway asks for itself, the first one's. */
  #nodeAsked(rid: string): Node {
    return this.#nodeOf.get(rid) ?? (this.nodes[0] as Node);
  }

  /** Time goes on to the next thing that happens, and all that follows from it happens. */
  async step(): Promise<void> {
    this.clock.fireNext();
    await this.clock.settle();
    for (const { oracle } of this.nodes) oracle.check();
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
    this.windows.disturbed();
  }

  reload(settings: Settings): void {
    this.settings = settings;
    const { engines, window, policy, queuedMax, tenants } = settings;
    this.say(`reload: ${engines.join()} window ${window} ${policy} queue ${queuedMax} tenants ${tenants.join()}`);
    for (const { gateway, index } of this.nodes) gateway.reload(configOf(this.scenario, settings, index));
    this.windows.reloaded();
  }

  frozenAt({ door, oracle }: Node): Frozen {
    const { clock, say } = this;
    const now = async (): Promise<void> => {
      await clock.settle();
      while (clock.next <= clock.now) await this.step();
    };
    const isAlone = this.nodes.length === 1;
    return { clock, door, say, now, isAlone, wrong: (text) => oracle.wrong(`G2: ${text}`) };
  }

  async audit(counts: 'views' | 'metrics'): Promise<void> {
    for (const node of this.nodes) await audit(this.frozenAt(node), node.oracle, counts);
  }

  /** Follows a request to its end. */
  readonly asked = (heard: Heard): void => {
    this.#outstanding.add(heard);
    this.#nodeOf.set(heard.ask.rid, this.nodes.find(({ door }) => door === heard.connection.door) as Node);
  };

  readonly ended = (heard: Heard): void => {
    this.#outstanding.delete(heard);
    const { rid, path, method } = heard.ask;
    if (method === 'POST' && path === '/v1/responses') this.#responses.push(responseIdOf(rid));
    this.#nodeAsked(rid).oracle.ended(heard, BOUNDS);
  };

  #agentPorts() {
    const { clock, say, asked, ended } = this;
    const { doors } = this.network;
    return {
      clock,
      doors,
      say,
      asked,
      ended,
      responses: this.#responses,
      wrong: (text: string) => this.wrong(`G2: ${text}`),
      agentDone: () => void (this.agentsLeft -= 1),
    };
  }

  /** Open streams are never silent for long, and what slow readers have not taken is not in the gateway. */
  #checkHeard(): void {
    for (const heard of this.#outstanding) {
      const { ask, connection, sent, left, sentAt, lastAt } = heard;
      const { oracle } = this.#nodeAsked(ask.rid);
      if (!sent || left || ask.lies) continue;
      const silentMs = this.clock.now - this.#stalledMs - Math.max(sentAt, lastAt);
      const patience = ask.stream ? BOUNDS.silenceMs : BOUNDS.wholeMs;
      if (silentMs > patience + ask.holdMs) oracle.wrong(`G6: the client of ${ask.rid} has heard nothing for long`);
      if (ask.holdMs === 0 || connection.wire === undefined) continue;
      const heldBytes = oracle.readFor(ask.rid) - (connection.wire.written - heard.writtenBefore);
      if (heldBytes > HELD_BYTES_MAX) oracle.wrong(`G7: the gateway holds too much for ${ask.rid}`);
    }
  }
}
