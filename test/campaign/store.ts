import { createHash } from 'node:crypto';
import { SCRIPTS, type ScriptName } from '../../cluster/redis/scripts.js';
import type { Clock } from './clock.js';
import type { Host } from './platform.js';
import { SharedTables } from './shared-tables.js';
import type { Wire } from './wire.js';

/** By its text and by its hash. */
const SCRIPT_OF = new Map<string, ScriptName>();
for (const [name, lua] of Object.entries(SCRIPTS))
  for (const text of [lua, createHash('sha1').update(lua).digest('hex')]) SCRIPT_OF.set(text, name as ScriptName);

/** The gateways' Redis server. It may be late, stand still, lose its data, or be gone. */
export class SimStore implements Host {
  readonly delayMs = 0.2;
  door: Host['door'] = 'open';
  /** Time that each command takes beyond its way. */
  lagMs = 0;
  /** Nothing is answered before. */
  #stillUntilMs = 0;
  #busyUntilMs = 0;
  readonly #channels = new Map<string, Set<Wire>>();
  readonly #wires = new Set<Wire>();
  #tables: SharedTables;

  constructor(private readonly clock: Clock) {
    this.#tables = this.#empty();
  }

  accept(wire: Wire): void {
    this.#wires.add(wire);
    let bytes = Buffer.alloc(0);
    wire.listen({
      data: (chunk) => {
        bytes = Buffer.concat([bytes, chunk]);
        for (let read = readCommand(bytes); read !== undefined; read = readCommand(bytes)) {
          const { args, length } = read;
          bytes = bytes.subarray(length);
          this.#whenIdle(() => this.#answer(wire, args));
        }
      },
      end: () => wire.close(),
      closed: () => {
        this.#wires.delete(wire);
        for (const wires of this.#channels.values()) wires.delete(wire);
      },
    });
  }

  stand(ms: number): void {
    this.#stillUntilMs = this.clock.now + ms;
  }

  /** Loses all data. */
  flush(): void {
    this.#tables = this.#empty();
  }

  /** Ends, and takes no connection until it is back. Its data is gone. */
  leave(): void {
    this.door = 'refused';
    this.flush();
    for (const wire of [...this.#wires]) wire.reset();
  }

  return(): void {
    this.door = 'open';
  }

  #empty(): SharedTables {
    return new SharedTables({
      now: () => Math.floor(this.clock.now),
      publish: (channel, text) => this.#publish(channel, text),
    });
  }

  #publish(channel: string, text: string): void {
    for (const wire of this.#channels.get(channel) ?? [])
      wire.send(`>3\r\n${bulk('message')}${bulk(channel)}${bulk(text)}`);
  }

  /** One command after the other. */
  #whenIdle(act: () => void): void {
    const { now } = this.clock;
    this.#busyUntilMs = Math.max(this.#busyUntilMs, now + this.lagMs, this.#stillUntilMs);
    this.clock.after(this.#busyUntilMs - now, act);
  }

  #answer(wire: Wire, [command = '', ...args]: readonly string[]): void {
    switch (command.toLowerCase()) {
      case 'subscribe':
        for (const [i, channel] of args.entries()) {
          this.#channels.set(channel, (this.#channels.get(channel) ?? new Set()).add(wire));
          wire.send(`>3\r\n${bulk('subscribe')}${bulk(channel)}:${i + 1}\r\n`);
        }
        return;
      case 'eval':
      case 'evalsha': {
        const script = SCRIPT_OF.get(args[0] ?? '');
        if (script === undefined) throw new Error('a script that the store does not know');
        return wire.send(replyOf(this.#tables.run(script, args.slice(2, 4), args.slice(4))));
      }
      case 'publish':
        this.#publish(args[0] ?? '', args[1] ?? '');
        return wire.send(':1\r\n');
      default:
        return wire.send('+OK\r\n');
    }
  }
}

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

/** What a script returns. */
export type Reply = string | number | null | readonly Reply[];

function replyOf(reply: Reply): string {
  if (reply === null) return '_\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  return typeof reply === 'string' ? bulk(reply) : `*${reply.length}\r\n${reply.map(replyOf).join('')}`;
}

/** The first whole command, and its length in bytes. */
function readCommand(bytes: Buffer): { readonly args: readonly string[]; readonly length: number } | undefined {
  let at = 0;
  const number = (): number | undefined => {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const value = Number(bytes.toString('latin1', at + 1, end));
    at = end + 2;
    return value;
  };
  const count = number();
  if (count === undefined) return undefined;
  const args: string[] = [];
  for (let i = 0; i < count; i++) {
    const size = number();
    if (size === undefined || bytes.length < at + size + 2) return undefined;
    args.push(bytes.toString('utf8', at, at + size));
    at += size + 2;
  }
  return { args, length: at };
}
