import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

/** Codes of an answer, as RFC 1035 numbers them. */
export const NXDOMAIN = 3;
export const SERVFAIL = 2;
const TYPES = { A: 1, AAAA: 28, SRV: 33 } as const;

export interface Record {
  readonly type: keyof typeof TYPES;
  readonly ttl?: number;
  /** An address; for SRV `priority port target`. */
  readonly value: string;
}

/** A DNS server on loopback, over UDP and TCP, that answers every question with what a test says. */
export class DnsServer {
  /** Records, or the code of a failure. */
  answer: readonly Record[] | number = [];
  /** Whether answers over UDP say that they are cut, so that the client asks over TCP. */
  truncates = false;
  /** Whether TCP is answered. */
  hasTcp = true;
  /** Names that were asked for, by transport. */
  readonly asked: string[] = [];

  private constructor(
    readonly address: string,
    private readonly udp: Socket,
    private readonly tcp: Server,
  ) {
    udp.on('message', (query, { port, address: to }) => udp.send(this.#reply(query, 'udp'), port, to));
    tcp.on('connection', (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (query) => {
        if (!this.hasTcp) return socket.destroy();
        const reply = this.#reply(query.subarray(2), 'tcp');
        return socket.write(Buffer.concat([uint16(reply.length), reply]));
      });
    });
  }

  static async start(): Promise<DnsServer> {
    for (;;) {
      const tcp = createServer().listen(0, '127.0.0.1');
      await once(tcp, 'listening');
      const { port } = tcp.address() as AddressInfo;
      const udp = createSocket('udp4');
      try {
        udp.bind(port, '127.0.0.1');
        await once(udp, 'listening');
        return new DnsServer(`127.0.0.1:${port}`, udp, tcp);
      } catch {
        // Another process has the port for UDP.
        tcp.close();
      }
    }
  }

  close(): Promise<void> {
    this.udp.close();
    return new Promise((resolve) => this.tcp.close(() => resolve()));
  }

  #reply(query: Buffer, transport: 'udp' | 'tcp'): Buffer {
    let end = 12;
    const labels: string[] = [];
    for (let size = query[end]!; size > 0; size = query[end]!) {
      labels.push(query.toString('latin1', end + 1, end + 1 + size));
      end += 1 + size;
    }
    this.asked.push(`${transport} ${labels.join('.')}`);
    const question = query.subarray(12, end + 5);
    const cut = this.truncates && transport === 'udp';
    const records = typeof this.answer === 'number' || cut ? [] : this.answer;
    const code = typeof this.answer === 'number' ? this.answer : 0;
    // A response with recursion, perhaps cut; then the numbers of questions, answers and others.
    const flags = 0x8180 | (cut ? 0x0200 : 0) | code;
    const head = Buffer.concat([query.subarray(0, 2), ...[flags, 1, records.length, 0, 0].map(uint16)]);
    return Buffer.concat([head, question, ...records.map(encode)]);
  }
}

function encode({ type, ttl = 60, value }: Record): Buffer {
  const data = dataOf(type, value);
  // The name is a pointer to that of the question; the class is the Internet.
  return Buffer.concat([...[0xc00c, TYPES[type], 1, ttl >> 16, ttl & 0xffff, data.length].map(uint16), data]);
}

function dataOf(type: Record['type'], value: string): Buffer {
  if (type === 'A') return Buffer.from(value.split('.').map(Number));
  if (type === 'AAAA') return Buffer.concat(value.split(':').map((part) => uint16(parseInt(part, 16))));
  const [priority, port, target] = value.split(' ');
  const labels = target!.split('.').filter((label) => label !== '');
  const name = labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([uint16(Number(priority)), uint16(0), uint16(Number(port)), ...name, Buffer.from([0])]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
