import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';

/** A socket in front of a server, whose connections can be held up, cut, and led to another server. */
export class UnixProxy {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));
  #isHeld = false;

  static async open(path: string, target: string): Promise<UnixProxy> {
    const proxy = new UnixProxy(path, target);
    proxy.#server.listen(path);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(
    readonly path: string,
    private target: string,
  ) {}

  /** Connections stay, and nothing passes. */
  hold(): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.pause();
  }

  release(): void {
    this.#isHeld = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Ends all connections. New ones go to the target. */
  lead(target = this.target): void {
    this.target = target;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.lead();
    rmSync(this.path, { force: true });
  }

  #join(client: Socket): void {
    const server = connect(this.target);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isHeld) from.pause();
    }
  }
}
