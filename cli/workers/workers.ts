import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { gatewayId, StateHost } from '../../cluster/index.js';
import type { Config } from '../../sidecar/config/index.js';
import { readWorkflows } from '../../sidecar/workflows/files.js';
import { Channel } from './channel.js';
import type { FromWorker, Listening, ToWorker } from './messages.js';

/** Wait before a worker that ended is started again; it doubles with each life that was short. */
const AGAIN_MS = 1000;
const AGAIN_MS_MAX = 30_000;
const SHORT_LIFE_MS = 60_000;

interface Running {
  readonly process: Worker;
  readonly channel: Channel<ToWorker>;
  readonly exited: Promise<void>;
}

/**
 * Gateways in processes of their own, with one listener. This process accepts connections for them, keeps their shared
 * state, and starts a worker again that ends on its own.
 */
export class Workers {
  readonly #host: StateHost;
  readonly #running = new Map<number, Running>();
  readonly #again = new Set<NodeJS.Timeout>();
  #isOpen = true;

  constructor(
    private config: Config,
    private readonly log: Logger,
  ) {
    this.#host = new StateHost(config.cluster);
  }

  /**
   * Starts all, the first alone, so that a taken port is reported once.
   * @throws Error if one does not start; then all have ended
   */
  async start(): Promise<{ readonly url: string; readonly adminUrls: readonly string[] }> {
    const exec = fileURLToPath(new URL('./worker.js', import.meta.url));
    cluster.setupPrimary({ exec, args: [], serialization: 'advanced' });
    try {
      const first = await this.#start(0);
      const others = Array.from({ length: this.config.workers - 1 }, (_, index) => this.#start(index + 1));
      const adminUrls = [first, ...(await Promise.all(others))].map(({ adminUrl }) => adminUrl);
      return { url: first.url, adminUrls };
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /** @throws ConfigError if a declared workflow is faulty; nothing has changed then */
  reload(config: Config): void {
    readWorkflows(config);
    this.config = config;
    for (const [index, { channel }] of this.#running) channel.send({ type: 'reload', config: configOf(config, index) });
  }

  drain(): Promise<void> {
    return this.#end(({ channel }) => channel.send({ type: 'drain' }));
  }

  /** Ends them at once, with their calls. */
  kill(): Promise<void> {
    return this.#end(({ process }) => process.process.kill('SIGKILL'));
  }

  async #end(how: (running: Running) => void): Promise<void> {
    this.#isOpen = false;
    for (const timer of this.#again) clearTimeout(timer);
    const running = [...this.#running.values()];
    running.forEach(how);
    await Promise.all(running.map(({ exited }) => exited));
  }

  /** Resolves once it listens. @throws Error if it does not */
  #start(index: number, shortLives = 0): Promise<Listening> {
    const process = cluster.fork();
    const startedAtMs = performance.now();
    // A message to a process that has just ended: its exit follows.
    process.on('error', () => undefined);
    const exited = new Promise<void>((resolve) => process.once('exit', () => resolve()));
    const name = gatewayId(`worker-${index + 1}.${process.process.pid}`);
    const channel = new Channel(process.process, canMiss);
    this.#running.set(index, { process, channel, exited });
    return new Promise((resolve, reject) => {
      const hear = (message: FromWorker) => {
        if (message.type === 'store') this.#host.handle(name, message.request);
        else if (message.type === 'join')
          this.#host.join(name, (said) => channel.send({ type: 'store', message: said }));
        else if (message.type === 'loaded')
          channel.send(this.#isOpen ? { type: 'start', config: configOf(this.config, index) } : { type: 'drain' });
        else if (message.type === 'listening') resolve(message);
        else reject(Object.assign(new Error(message.error.message), message.error));
      };
      process.on('message', (batch: readonly FromWorker[]) => batch.forEach(hear));
      process.once('exit', (code, signal: string | null) => {
        this.#running.delete(index);
        this.#host.leave(name);
        reject(new Error(`worker ${index + 1} ended: ${signal ?? code}`));
        const isShort = performance.now() - startedAtMs < SHORT_LIFE_MS;
        if (this.#isOpen) this.#startAgain(index, isShort ? shortLives : 0, { code, signal });
      });
    });
  }

  #startAgain(index: number, shortLives: number, end: { readonly code: number; readonly signal: string | null }): void {
    const waitMs = Math.min(AGAIN_MS * 2 ** shortLives, AGAIN_MS_MAX);
    this.log.error({ worker: index + 1, ...end, again_ms: waitMs }, 'a worker ended, and is started again');
    const timer = setTimeout(() => {
      this.#again.delete(timer);
      this.#start(index, shortLives + 1).catch((err: unknown) =>
        this.log.error({ worker: index + 1, err }, 'a worker did not start'),
      );
    }, waitMs);
    this.#again.add(timer);
  }
}

/** Its next claim tells a worker what it has missed. */
const canMiss = (message: ToWorker): boolean =>
  message.type === 'store' && (message.message.type === 'parts' || message.message.type === 'moved');

/** A worker's part of the memory, and an admin listener of its own. */
function configOf(config: Config, index: number): Config {
  const { workers, limits, admin, cluster: shared } = config;
  const { queuedBytes, warmBytes } = limits;
  return {
    ...config,
    admin: { ...admin, port: admin.port === 0 || admin.port === null ? admin.port : admin.port + index },
    limits: {
      ...limits,
      queuedBytes: Math.ceil(queuedBytes / workers),
      warmBytes: Math.ceil(warmBytes / workers),
    },
    cluster: { ...shared, gateways: shared.gateways * workers },
  };
}
