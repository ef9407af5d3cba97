import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { startStandIns, type Engines } from '../../../processes/gateway.js';
import { get, untilReady, freePort, serve, start, type Child, type Server } from '../../../processes/process.js';
import { RedisServer } from '../../../processes/redis.js';
import { DnsServer } from '../../sidecar/discovery/dns-server.js';
import { ROOT } from '../../support/tree.js';

const TENANTS = ['alpha', 'beta', 'gamma'];
const MODEL_SPEED = 20;

const TOOLS = [{ type: 'function', function: { name: 'bash', parameters: { type: 'object', properties: {} } } }];

interface Completion {
  readonly choices: readonly [{ readonly message: { readonly tool_calls?: readonly { readonly id: string }[] } }];
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

export interface Rule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly state: 'inactive' | 'pending' | 'firing';
}

/** Stand-in engines, a gateway before them, and Prometheus, each in a process of its own. */
export class Stage {
  readonly #folder = mkdtempSync(join(tmpdir(), 'maitred-prometheus-'));
  #engines: Engines | undefined;
  #gateway: Server | undefined;
  #dns: DnsServer | undefined;
  #store: RedisServer | undefined;
  #prometheus: Child | undefined;
  #prometheusUrl = '';
  #adminUrl = '';
  #model = '';

  async open(): Promise<void> {
    this.#engines = await startStandIns(2, 'llama-3.1-8b-h100', 20_000, MODEL_SPEED);
    const adminPort = await freePort();
    const [configured, found] = this.#engines.urls;
    this.#dns = await DnsServer.start();
    this.#dns.answer = [{ type: 'SRV', value: `0 ${new URL(found ?? '').port} 127.0.0.1` }];
    this.#store = await RedisServer.start();
    const config = {
      listen: { port: 0 },
      cluster: { url: this.#store.path, limitMs: 1000 },
      admin: { port: adminPort },
      engines: [{ id: 'gpu-0', url: configured, window: 2 }],
      discovery: [{ dns: { name: 'e.example', type: 'SRV', servers: [this.#dns.address] }, window: 2 }],
      auth: { keys: TENANTS.map((tenant) => ({ tenant, sha256: sha256(`key-of-${tenant}`) })) },
      policy: { foresight: 'declared' },
      limits: { tenantSeriesMax: 2, queuedMax: 20 },
      health: { intervalMs: 200, backoffMs: 200 },
      timeouts: { commentMs: 200 },
    };
    this.#gateway = await serve(['serve', '--config', this.#write('maitred.yaml', config)]);
    this.#adminUrl = `http://127.0.0.1:${adminPort}`;
    // Before its first engine has been probed, the gateway answers with an empty list.
    await untilReady(async () => {
      const answer = await this.#call('/v1/models');
      const { data } = (answer.ok ? await answer.json() : { data: [] }) as { data: readonly { id: string }[] };
      this.#model = data[0]?.id ?? '';
      return this.#model === '' ? 'the gateway lists no models' : undefined;
    });
    await this.#startPrometheus();
  }

  async close(): Promise<void> {
    for (const each of [this.#prometheus, this.#gateway, this.#engines, this.#store]) await each?.stop();
    await this.#dns?.close();
    rmSync(this.#folder, { recursive: true });
  }

  stopEngines = (): Promise<void> => this.#engines?.stop() ?? Promise.resolve();
  scrape = (): Promise<string> => get(`${this.#adminUrl}/metrics`);

  /** Programs of several tenants: streams, cancelled and refused calls, failures, and requests passed through. */
  async load(ms: number): Promise<void> {
    const until = performance.now() + ms;
    let programs = 0;
    const worker = async (index: number) => {
      while (performance.now() < until) await this.#program(`p-${programs++}`, TENANTS[index % TENANTS.length] ?? '');
    };
    await Promise.all(Array.from({ length: 12 }, (_, index) => worker(index)));
  }

  async query(expr: string): Promise<readonly Sample[]> {
    const { result } = (await this.#ask(`query?query=${encodeURIComponent(expr)}`)) as { result: readonly Sample[] };
    return result;
  }

  async rules(): Promise<readonly Rule[]> {
    const { groups } = (await this.#ask('rules')) as { groups: readonly { rules: readonly Rule[] }[] };
    return groups.flatMap(({ rules }) => rules);
  }

  async #program(id: string, tenant: string): Promise<void> {
    const headers = (more: object = {}) => ({ 'x-maitred-program': id, ...more });
    const messages: object[] = [{ role: 'user', content: `${id} `.repeat(200) }];
    const chat = (body: object, more?: object, signal?: AbortSignal) =>
      this.#call(
        '/v1/chat/completions',
        tenant,
        { model: this.#model, messages, max_tokens: 60, ...body },
        headers(more),
        signal,
      );
    await chat({ stream: true });
    messages.push({ role: 'assistant', content: 'x' }, { role: 'user', content: 'go on' });
    const asked = await chat({ tools: TOOLS, max_tokens: 200 });
    if (asked.ok) messages.push(...toolResults((await asked.json()) as Completion));
    await chat({});
    await chat({}, { 'x-sim-fault': 'status=500' });
    await chat({ stream: true, max_tokens: 4000 }, {}, AbortSignal.timeout(300));
    await chat({ model: 'unknown' });
    await this.#call('/v1/moderations', tenant, { input: 'x' });
    await chat({ max_tokens: 2 }, { 'x-maitred-final': 'true' });
  }

  /** Reads the answer to its end. What became of it is for the metrics to tell. */
  async #call(path: string, tenant = 'alpha', body?: object, headers: object = {}, signal?: AbortSignal) {
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    const own = { authorization: `Bearer key-of-${tenant}`, 'content-type': 'application/json', ...headers };
    try {
      const answer = await fetch((this.#gateway?.url ?? '') + path, { ...post, headers: own, signal: signal ?? null });
      const text = await answer.text();
      return new Response(text === '' ? null : text, { status: answer.status });
    } catch {
      return Response.error();
    }
  }

  async #startPrometheus(): Promise<void> {
    const port = await freePort();
    this.#prometheusUrl = `http://127.0.0.1:${port}`;
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [`${ROOT}deploy/prometheus/alerts.yml`],
      scrape_configs: [{ job_name: 'gateways', static_configs: [{ targets: [new URL(this.#adminUrl).host] }] }],
    };
    const flags = {
      'config.file': this.#write('prometheus.yml', config),
      'storage.tsdb.path': join(this.#folder, 'data'),
      'web.listen-address': `127.0.0.1:${port}`,
    };
    this.#prometheus = start(
      'prometheus',
      Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    );
    this.#prometheus.stdout.resume();
    await untilReady(() => get(`${this.#prometheusUrl}/-/ready`).then(() => undefined, String));
  }

  async #ask(path: string): Promise<unknown> {
    const answer = await fetch(`${this.#prometheusUrl}/api/v1/${path}`);
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return ((await answer.json()) as { readonly data: unknown }).data;
  }

  #write(name: string, content: object): string {
    const path = join(this.#folder, name);
    writeFileSync(path, stringify(content));
    return path;
  }
}

/** An answer that asks for tools, and their results. */
function toolResults({ choices: [{ message }] }: Completion): object[] {
  const results = (message.tool_calls ?? []).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }));
  return [message, ...results];
}

/** Waits until `holds`, and returns whether it came to that. */
export async function comesTrue(holds: () => Promise<boolean>, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > end) return false;
    await sleep(200);
  }
  return true;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
