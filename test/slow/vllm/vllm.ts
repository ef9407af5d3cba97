import { readModels } from '../../../sidecar/engines/models.js';
import { samplesOf } from '../../../sidecar/engines/prometheus.js';
import { JSON_TYPE, ask, until, world, type Got, type World } from '../../sidecar/gateway/world.js';

/** A running vLLM, which all tests of this folder share, and gateways in front of it. */

export const VLLM = process.env['VLLM_URL']?.replace(/\/+$/, '') ?? '';
/** Suffix for names of skipped tests, with the reason. */
export const NEEDS = VLLM === '' ? ' (skipped: VLLM_URL names no running vLLM, see the README)' : '';

const GREETING = [{ role: 'user', content: 'hello there' }];
/** Short answers that are equal each time. */
export const BODIES = {
  '/v1/chat/completions': { messages: GREETING, max_tokens: 6, temperature: 0, ignore_eos: true },
  '/v1/completions': { prompt: 'hello there', max_tokens: 6, temperature: 0, ignore_eos: true },
  '/v1/responses': { input: 'hello there', max_output_tokens: 6, temperature: 0 },
  '/v1/messages': { messages: GREETING, max_tokens: 6, temperature: 0 },
} as const;
export type Path = keyof typeof BODIES;
export const PATHS = Object.keys(BODIES) as Path[];

/** A gateway in front of the real engine, once it has joined. */
export async function gateway(overrides: Readonly<Record<string, unknown>> = {}): Promise<World> {
  const made = await world([], { engines: [{ url: VLLM }], health: { intervalMs: 100 }, ...overrides });
  await until(async () => (await engineRow(made))['state'] === 'up');
  return made;
}

export async function engineRow({ adminUrl }: World): Promise<Record<string, unknown>> {
  const { engines } = (await ask(`${adminUrl}/engines`)).json() as { engines: Record<string, unknown>[] };
  return engines[0] ?? {};
}

export async function programRow({ adminUrl }: World, id: string): Promise<Record<string, unknown>> {
  return (await ask(`${adminUrl}/programs/${id}`)).json();
}

let named: string | undefined;

/** The first model that the engine serves. */
export async function model(): Promise<string> {
  named ??= [...(readModels((await ask(`${VLLM}/v1/models`)).text)?.keys() ?? [])][0];
  if (named === undefined) throw new Error(`${VLLM} lists no model`);
  return named;
}

export async function bodyOf(path: Path, more: object = {}): Promise<string> {
  return JSON.stringify({ model: await model(), ...BODIES[path], ...more });
}

/** One call, answered whole. */
export async function post(
  url: string,
  path: Path,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Got> {
  return ask(`${url}${path}`, { headers: { ...JSON_TYPE, ...headers }, body: await bodyOf(path, more) });
}

async function samples(name: string) {
  return samplesOf((await ask(`${VLLM}/metrics`)).text, `vllm:${name}`);
}

/** Sum of a metric over its labels, as the engine reports it. */
export const gauge = async (name: string): Promise<number> =>
  (await samples(name)).reduce((sum, { value }) => sum + value, 0);

/** Labels of an information metric. */
export const labels = async (name: string): Promise<ReadonlyMap<string, string>> =>
  (await samples(name))[0]?.labels ?? new Map<string, string>();

export const running = (): Promise<number> => gauge('num_requests_running');
export const waitingInEngine = (): Promise<number> => gauge('num_requests_waiting');

/** Waits until the engine is idle, so that work left by an earlier test is not counted here. */
export async function idle(): Promise<void> {
  await until(async () => (await running()) + (await waitingInEngine()) === 0, 30_000);
}

/** An answer without the parts that differ between calls: ids, the time, and measured durations. */
export function timeless(text: string): string {
  return text
    .replace(/"(id|item_id)":"[^"]*"/g, '"$1":"?"')
    .replace(/"created(_at)?":\d+/g, '"created$1":0')
    .replace(/"(\w+_ms|tokens_per_second)":[\d.e+-]+/g, '"$1":0');
}
