import { z } from 'zod';
import type { EngineConfig, EngineDefaults, KubernetesConfig } from '../config/index.js';
import { reasonOf } from '../errors.js';
import { Refused, get, watch, type Ask } from './api-server.js';
import { ownCluster, type Cluster } from './cluster.js';
import { endpointsOf, sliceSchema, type Endpoint, type Slice } from './slices.js';
import { backoffMs, type Source, type SourcePorts } from './source.js';

/** Interval at which the known endpoints are reported again while the watch is open. */
const REPORT_MS = 5000;
/** The API server ends a watch after this time, so that a connection that died unnoticed is soon replaced. */
const WATCH_SECONDS = 120;
/** Silence after which a watch counts as dead. */
const SILENCE_MS = (WATCH_SECONDS + 15) * 1000;
/** A watch that ended sooner is followed by a pause. */
const SHORT_MS = 1000;
const BACKOFF_MS_MAX = 30_000;
/** Slices in one page of a list. */
const PAGE = 100;

const listSchema = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(sliceSchema).nullish(),
});

const bookmarkSchema = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: sliceSchema }),
  z.object({ type: z.literal('BOOKMARK'), object: bookmarkSchema }),
  z.object({ type: z.literal('ERROR'), object: z.object({ code: z.number(), message: z.string().default('') }) }),
]);

/** Follows the EndpointSlices of a Service until closed: it lists them once, and then watches for changes. */
export function watchKubernetes(
  config: KubernetesConfig,
  defaults: EngineDefaults,
  ports: SourcePorts,
  clusterNow: () => Promise<Cluster> = ownCluster,
): Source {
  return new Watcher(config, defaults, ports, clusterNow);
}

class Watcher implements Source {
  readonly #abort = new AbortController();
  #slices = new Map<string, Slice>();
  /** Version up to which `#slices` is current; '' before the first list, or when the server has forgotten it. */
  #version = '';
  /** Failures since a watch was last set up. */
  #failures = 0;
  #namespace = '';
  #cancelTimer = (): void => undefined;

  constructor(
    private readonly config: KubernetesConfig,
    private readonly defaults: EngineDefaults,
    private readonly ports: SourcePorts,
    private readonly clusterNow: () => Promise<Cluster>,
  ) {
    void this.#follow();
  }

  close(): void {
    this.#abort.abort();
    this.#cancelTimer();
  }

  /** One watch, with a list before it where necessary. Then the next. */
  async #follow(): Promise<void> {
    const startedAtMs = performance.now();
    try {
      const cluster = await this.clusterNow();
      this.#namespace = this.config.namespace ?? cluster.namespace;
      if (this.#version === '') await this.#list(cluster);
      await this.#watch(cluster);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      // After a refusal the version may be worthless; after a broken connection it is not.
      if (error instanceof Refused) this.#version = '';
      if (!(error instanceof Refused && error.status === 410)) {
        this.#failures += 1;
        this.ports.failed(reasonOf(error));
      }
    }
    this.#cancelTimer();
    if (this.#abort.signal.aborted) return;
    const wasShort = performance.now() - startedAtMs < SHORT_MS;
    const waitMs = this.#failures > 0 || wasShort ? backoffMs(Math.max(1, this.#failures), BACKOFF_MS_MAX) : 0;
    this.#cancelTimer = this.ports.setTimer(() => void this.#follow(), waitMs);
  }

  async #list(cluster: Cluster): Promise<void> {
    const slices = new Map<string, Slice>();
    let page: string | undefined = '';
    let version = '';
    while (page !== undefined) {
      const { metadata, items }: z.output<typeof listSchema> = read(
        listSchema,
        await get(this.#ask(cluster, { limit: String(PAGE), ...(page !== '' && { continue: page }) })),
      );
      for (const slice of items ?? []) slices.set(slice.metadata.name, slice);
      version = metadata.resourceVersion;
      page = metadata.continue || undefined;
    }
    this.#slices = slices;
    this.#version = version;
    this.#report();
  }

  async #watch(cluster: Cluster): Promise<void> {
    const again = () => {
      this.#report();
      this.#cancelTimer = this.ports.setTimer(again, REPORT_MS);
    };
    const opened = () => (this.#cancelTimer = this.ports.setTimer(again, REPORT_MS));
    const ask = this.#ask(cluster, {
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version,
      timeoutSeconds: String(WATCH_SECONDS),
    });
    await watch(ask, opened, (document) => this.#take(document));
    this.#failures = 0;
  }

  #take(document: unknown): void {
    const event = read(eventSchema, document);
    if (event.type === 'ERROR') throw new Refused(event.object.code, `the watch ended: ${event.object.message}`);
    this.#failures = 0;
    this.#version = event.object.metadata.resourceVersion;
    if (event.type === 'BOOKMARK') return;
    if (event.type === 'DELETED') this.#slices.delete(event.object.metadata.name);
    else this.#slices.set(event.object.metadata.name, event.object);
    this.#report();
  }

  #report(): void {
    try {
      const { endpoints, leaving } = endpointsOf(this.#slices.values(), this.config.port);
      this.ports.found(endpoints.map(this.#engineOf), leaving.map(this.#engineOf));
    } catch (error) {
      this.ports.failed(reasonOf(error));
    }
  }

  /** Pods have names of their own only within a namespace. */
  readonly #engineOf = ({ host, pod }: Endpoint): EngineConfig => {
    const { namespace, scheme, service } = this.config;
    return {
      // An address matches no certificate; the Service's name does.
      ...(scheme === 'https' && { serverName: `${service}.${this.#namespace}.svc` }),
      ...this.defaults,
      url: `${scheme}://${host}`,
      ...(pod !== undefined && { id: namespace === undefined ? pod : `${pod}.${namespace}` }),
    };
  };

  #ask(cluster: Cluster, query: Readonly<Record<string, string>>): Ask {
    const labelSelector = `kubernetes.io/service-name=${this.config.service}`;
    const search = new URLSearchParams({ labelSelector, ...query });
    return {
      cluster,
      path: `/apis/discovery.k8s.io/v1/namespaces/${this.#namespace}/endpointslices?${search.toString()}`,
      silenceMs: SILENCE_MS,
      signal: this.#abort.signal,
    };
  }
}

function read<T>(schema: z.ZodType<T>, document: unknown): T {
  const { data, error } = schema.safeParse(document);
  const [issue] = error?.issues ?? [];
  if (issue !== undefined)
    throw new Error(`the API server sent no EndpointSlices: ${issue.path.join('.')}: ${issue.message}`);
  return data as T;
}
