import crypto from 'node:crypto';
import { EventEmitter } from 'node:events';
import http from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { setDefaultHighWaterMark } from 'node:stream';
import { Dice } from '../../workloads/dice.js';
import type { Clock } from './clock.js';
import { fault, type SimSocket } from './socket.js';
import { Wire } from './wire.js';

/*
 * What the operating system gives the gateway, made of the world's own parts: connections, listening, chance. The
 * gateway's code, Node's HTTP server and undici run as they are; only what they stand on is replaced. This file must be
 * imported before any of theirs, since some of them read it once.
 */

// The router is built for every method, a third of a millisecond each; the world speaks three.
Object.assign(http, { METHODS: ['DELETE', 'GET', 'POST'] });
// The default differs between versions of Node, and with it what a slow reader holds back.
setDefaultHighWaterMark(false, 16_384);
// The process's own metrics are the real one's, and reading them takes longer than all the rest of an answer.
Object.assign(createRequire(import.meta.url)('prom-client') as object, { collectDefaultMetrics: () => undefined });
syncBuiltinESMExports();

const server = net.Server.prototype as unknown as Record<'listen' | 'close' | 'address', unknown>;
const real = {
  connect: net.connect,
  createConnection: net.createConnection,
  listen: server.listen,
  close: server.close,
  address: server.address,
  random: Math.random,
  randomUUID: crypto.randomUUID,
};

/** A server of Node's, with what its `listening` goes by. */
type Listening = net.Server & { _handle: object | null };

/** Who takes a connection to a host: an engine, whatever its state. */
export interface Host {
  readonly delayMs: number;
  /** `refused`: nobody listens. `silent`: nothing is heard, not even a refusal. */
  readonly door: 'open' | 'refused' | 'silent';
  accept(wire: Wire): void;
}

/** Where one gateway takes its clients' connections. */
export class Door {
  readonly #inbound = new Set<SimSocket>();
  readonly #closing = new EventEmitter();
  server: net.Server | undefined;

  constructor(private readonly wire: (delayMs: number) => Wire) {}

  /** Connections of clients that the gateway holds. */
  get inbound(): readonly SimSocket[] {
    return [...this.#inbound];
  }

  /** A client's connection to the gateway; undefined when it does not listen. */
  dial(delayMs: number): Wire | undefined {
    if (this.server === undefined) return undefined;
    const wire = this.wire(delayMs);
    this.#inbound.add(wire.socket);
    wire.socket.once('close', () => {
      this.#inbound.delete(wire.socket);
      if (this.#inbound.size === 0) this.#closing.emit('nobody');
    });
    this.server.emit('connection', wire.socket);
    return wire;
  }

  close(whenNobody: () => void): void {
    this.server = undefined;
    if (this.#inbound.size === 0) process.nextTick(whenNobody);
    else this.#closing.once('nobody', whenNobody);
  }
}

/** All connections of one world. */
export class Network {
  readonly hosts = new Map<string, Host>();
  /** Every connection that was ever made. */
  readonly wires: Wire[] = [];
  /** One for each gateway, in the order in which they begin to listen. */
  readonly doors: readonly Door[];
  readonly #dice: Dice;

  constructor(
    private readonly clock: Clock,
    seed: number,
    gateways: number,
  ) {
    this.#dice = Dice.of(seed, 1_000_003);
    this.doors = Array.from({ length: gateways }, () => new Door((delayMs) => this.#wire(delayMs, true)));
  }

  install(): void {
    const doors = new Map<net.Server, Door>();
    const open = (given: net.Server): void => {
      const door = this.doors.find(({ server: taken }) => taken === undefined);
      if (door === undefined) throw new Error('more listeners than gateways');
      door.server = given;
      doors.set(given, door);
    };
    const connect = (options: net.TcpNetConnectOpts) => this.#connect(`${options.host}:${options.port}`);
    Object.assign(net, { connect, createConnection: connect });
    server.listen = function (this: Listening) {
      open(this);
      this._handle = {};
      process.nextTick(() => this.emit('listening'));
      return this;
    };
    server.address = () => ({ address: '127.0.0.1', family: 'IPv4', port: 8080 });
    server.close = function (this: Listening, done?: () => void) {
      this._handle = null;
      doors.get(this)?.close(() => {
        this.emit('close');
        done?.();
      });
      return this;
    };
    Math.random = () => this.#dice.share();
    crypto.randomUUID = () => {
      const part = (digits: number) =>
        Array.from({ length: digits }, () => this.#dice.int(0, 15).toString(16)).join('');
      return `${part(8)}-${part(4)}-4${part(3)}-8${part(3)}-${part(12)}`;
    };
    syncBuiltinESMExports();
  }

  uninstall(): void {
    const { connect, createConnection, random, randomUUID, ...servers } = real;
    Object.assign(net, { connect, createConnection });
    Object.assign(server, servers);
    Math.random = random;
    crypto.randomUUID = randomUUID;
    syncBuiltinESMExports();
  }

  #wire(delayMs: number, halfOpen: boolean): Wire {
    const wire = new Wire(this.clock, delayMs, halfOpen);
    this.wires.push(wire);
    return wire;
  }

  #connect(address: string): SimSocket {
    const host = this.hosts.get(address);
    const wire = this.#wire(host?.delayMs ?? 0, false);
    const { socket } = wire;
    socket.connecting = true;
    this.clock.after(host?.delayMs ?? 0, () => {
      if (socket.destroyed || host?.door === 'silent') return;
      socket.connecting = false;
      if (host?.door !== 'open') {
        socket.destroy(fault('ECONNREFUSED'));
        return;
      }
      host.accept(wire);
      socket.emit('connect');
    });
    return socket;
  }
}
