import { serve, type Server } from './process.js';

/** A `maitred` command that serves, can be killed, and comes back at the same address. */
export class Revivable {
  #server: Server | undefined;
  #port: string;

  /** @param args without `--port` @param port its port from the first start on; any by default */
  constructor(
    private readonly args: readonly string[],
    port = '0',
  ) {
    this.#port = port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** NaN while it is away. */
  get pid(): number {
    return this.#server?.pid ?? NaN;
  }

  /** @throws Error with what it wrote to stderr, when it does not come up */
  async start(): Promise<void> {
    this.#server = await serve([...this.args, '--port', this.#port]);
    this.#port = new URL(this.#server.url).port;
  }

  signal(name: NodeJS.Signals): void {
    this.#server?.signal(name);
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop();
  }
}
