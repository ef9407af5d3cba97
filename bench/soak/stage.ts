import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEngines } from '../../processes/gateway.js';
import { untilReady, Revivable } from '../../processes/process.js';

export interface SoakOptions {
  readonly minutes: number;
  readonly streams: number;
  readonly seed: number;
}

export const ENGINES = 4;
export const RATE = 3;
/** The gateway's limit of a body, low so that going over it costs the load little. */
export const BODY_BYTES = 2 ** 18;
export const MODEL = 'soak';
/** Longest prompt and answer together. */
const MODEL_TOKENS = 8192;
/** Memory of the gateway's that fills up with time is bounded low: it is full when the warm-up ends. */
const LEASE_MS = 60_000;
const REMEMBERED = 5000;
/** Longest wait in the queue of a call that does not stream: its client hears nothing meanwhile. */
const QUEUE_MS = 60_000;
/** Of all streams, so that the others find room while an engine is away. */
const ROOM = 1.2;

/** A model whose steps take the same time whatever is in them. Engines differ a little, so that their steps drift apart. */
function presetOf(index: number, { streams }: SoakOptions): object {
  const free = { flopsPerToken: 1, attentionFlops: 1, kvBytesPerToken: 1, weightBytes: 1 };
  const preset = {
    ...free,
    model: MODEL,
    flopsPerSecond: 1e20,
    bytesPerSecond: 1e20,
    stepOverheadMs: (1000 / RATE) * (1 + 0.07 * index),
    sequenceOverheadMs: 0,
    kvTokens: 4_000_000,
    batchTokens: 1_000_000,
    slots: 2 * streams,
    maxModelLen: MODEL_TOKENS,
  };
  return { version: 1, preset };
}

/** One change after the other, and back: each reload is to find something else. */
export const VARIATIONS = ['as it was', 'another balancer', 'another quantum', 'a mistake', 'one engine less'] as const;
type Variation = (typeof VARIATIONS)[number];

function configOf(urls: readonly string[], { streams }: SoakOptions, variation: Variation): object {
  const window = Math.ceil((ROOM * streams) / ENGINES);
  const all = urls.map((url, index) => ({ id: `engine-${index + 1}`, url, kind: 'vllm', window }));
  return {
    engines: variation === 'one engine less' ? all.slice(1) : all,
    limits: {
      bodyBytes: BODY_BYTES,
      conversationsMax: REMEMBERED,
      responsesMax: REMEMBERED,
      queuedMax: variation === 'a mistake' ? -1 : 10_000,
    },
    policy: { firstQuantumMs: variation === 'another quantum' ? 250 : 125 },
    balancer: { name: variation === 'another balancer' ? 'least-loaded' : 'program-affinity' },
    starvation: { waitMsMax: QUEUE_MS / 2 },
    admission: { reserveMs: QUEUE_MS / 2, turnMs: QUEUE_MS / 2 },
    timeouts: {
      leaseMs: LEASE_MS,
      queueMs: QUEUE_MS,
      ghostMs: 30_000,
      firstByteMs: 30_000,
      idleMs: 10_000,
      commentMs: 5000,
    },
    health: { intervalMs: 1000 },
  };
}

export class Stage {
  readonly engines: readonly Revivable[];
  readonly gateway: Revivable;
  readonly #folder = mkdtempSync(join(tmpdir(), 'maitred-soak-'));
  readonly #config = join(this.#folder, 'maitred.json');

  constructor(private readonly options: SoakOptions) {
    this.engines = Array.from({ length: ENGINES }, (_, index) => {
      const preset = join(this.#folder, `engine-${index}.json`);
      writeFileSync(preset, JSON.stringify(presetOf(index, options)));
      return new Revivable(['engine', '--preset', preset, '--seed', `${options.seed + index}`]);
    });
    this.gateway = new Revivable(['serve', '--config', this.#config]);
  }

  async open(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.start()));
    this.#write('as it was');
    await this.gateway.start();
    await this.allUp();
  }

  /** Waits until all engines take calls. @throws Error when they do not */
  async allUp(): Promise<void> {
    await untilReady(async () => {
      const rows = await readEngines(this.gateway.url);
      const up = rows.filter(({ state }) => state === 'up' || state === 'probation');
      return up.length === this.engines.length ? undefined : `up are ${up.length} of ${this.engines.length} engines`;
    });
  }

  reload(variation: Variation): void {
    this.#write(variation);
    this.gateway.signal('SIGHUP');
  }

  async close(): Promise<void> {
    await Promise.all([this.gateway, ...this.engines].map((each) => each.kill()));
    rmSync(this.#folder, { recursive: true });
  }

  #write(variation: Variation): void {
    const urls = this.engines.map(({ url }) => url);
    writeFileSync(this.#config, JSON.stringify(configOf(urls, this.options, variation)));
  }
}
