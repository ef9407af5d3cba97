import type { JsonObject } from '../apis/api.js';
import type { EngineConfig } from '../config/index.js';
import type { EngineAdapter, Get, LoadReport } from './adapter.js';
import { ADAPTERS, detect } from './adapters.js';
import { MODELS_PATH, readModels } from './models.js';
import { isOk, type Answer, type Prober } from './prober.js';

export interface Inspection {
  readonly adapter: EngineAdapter;
  /** Whether it is surely of that kind: where a path gave no answer in time, it may be of another. */
  readonly isSure: boolean;
  /** Absent: the list could not be read this time. */
  readonly models?: ReadonlyMap<string, JsonObject>;
  readonly load: LoadReport;
  /** Answers of this probe, and further ones. */
  readonly get: Get;
}

/** A web site, or a gateway: it would schedule what is scheduled already, and behind itself send calls in a circle. */
export class NotAnEngine extends Error {
  override readonly name = 'NotAnEngine';
}

/** How the reason ends for which an engine is down that answers so; '' unless it is for want of the right key. */
export const keyFault = ({ apiKey }: Pick<EngineConfig, 'apiKey'>, status = 401): string =>
  status === 401 || status === 403 ? `: engines[].apiKey is ${apiKey === undefined ? 'missing' : 'refused'}` : '';

/** Every gateway answers here, on each of its ports, as most engines do. */
const GATEWAY_PATH = '/health';

/** Probes kind (unless `known`), health, models and load, each path once. @throws NotAnEngine; Error if unhealthy */
export async function inspect(prober: Prober, config: EngineConfig, known?: EngineAdapter): Promise<Inspection> {
  const asked = new Map<string, Promise<Answer>>();
  const ask = async (path: string): Promise<Answer> => {
    const answer = asked.get(path) ?? prober.ask(path);
    asked.set(path, answer);
    if (!(await answer).isGateway) return answer;
    throw new NotAnEngine(`${config.url} is a maitred gateway, not an engine: name the engines behind it`);
  };
  let isSure = true;
  const get: Get = async (path) => {
    try {
      const { status, text } = await ask(path);
      return isOk(status) ? text : undefined;
    } catch {
      isSure = config.kind !== 'auto';
      return undefined;
    }
  };

  let adapter = known;
  if (adapter === undefined) {
    // Rejects if no server answers. To `get` alone, that would look like a server without any of the paths. A gateway that
    // waits for engines answers here alone; a server that hangs here may answer elsewhere.
    await ask(GATEWAY_PATH).catch((error: unknown) => {
      if ((error as Error).name !== 'TimeoutError') throw error;
      return ask(MODELS_PATH);
    });
    const found = config.kind === 'auto' ? await detect(get) : ADAPTERS[config.kind];
    adapter = (await found.fit?.(get)) ?? found;
  }
  const health = await ask(adapter.healthPath);
  // A proxy before an engine that starts has pages, too, with other statuses.
  if (known === undefined && !config.models && health.isPage && (isOk(health.status) || health.status === 404))
    throw new NotAnEngine(`${config.url} is a web site, not an engine: its ${adapter.healthPath} is a page`);
  const refused = (path: string, { status }: Answer) =>
    new Error(`${path} answered ${status}${keyFault(config, status)}`);
  const unsure = health.status >= 400 && health.status < 500;
  if (!isOk(health.status) && !unsure) throw refused(adapter.healthPath, health);
  const [listed, load] = await Promise.all([get(MODELS_PATH), adapter.readLoad(get)]);
  const models = serves(readModels(listed), config, adapter);
  // A 4xx shows that the server is up but does not serve this path (a proxy, a key). Then its model list decides.
  if (models === undefined) {
    const list = known === undefined ? await ask(MODELS_PATH).catch(() => undefined) : undefined;
    if (list !== undefined && keyFault(config, list.status) !== '') throw refused(MODELS_PATH, list);
    if (unsure) throw refused(adapter.healthPath, health);
  }
  return { adapter, isSure, ...(models && { models }), load, get };
}

/** Models for which the engine may receive calls: the configured ones, otherwise those that it lists. */
function serves(listed: Inspection['models'] | undefined, config: EngineConfig, adapter: EngineAdapter) {
  const named = [...(listed ?? [])].flatMap(([id, entry]) =>
    (adapter.aliases?.(id) ?? []).map((alias) => ({ ...entry, id: alias })),
  );
  const all = listed && new Map([...listed, ...named.map((entry) => [entry.id, entry] as const)]);
  return config.models ? configuredModels(config.models, all) : all;
}

/** The owner of a configured model that its engine does not list. */
export const CONFIGURED = 'maitred';

/** Configured models, each with the engine's own entry if it lists one. */
export const configuredModels = (
  ids: readonly string[],
  listed?: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, JsonObject> =>
  new Map(ids.map((id) => [id, listed?.get(id) ?? { id, object: 'model', created: 0, owned_by: CONFIGURED }]));
