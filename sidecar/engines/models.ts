import type { JsonObject } from '../apis/api.js';
import { isObject, parseObject, stringOf } from '../apis/fields.js';
import type { Get } from './adapter.js';
import { asCount } from './load.js';

export const MODELS_PATH = '/v1/models';

/** Each model's entry by its id; `undefined` when the text is not a model list. */
export function readModels(text: string | undefined): ReadonlyMap<string, JsonObject> | undefined {
  const data = parseObject(text)?.['data'];
  if (!Array.isArray(data)) return undefined;
  const entries = data.filter(isObject).map((entry) => [stringOf(entry['id']), entry] as const);
  return new Map(entries.filter(([id]) => id !== ''));
}

/** The longest context of all listed models, if every entry states it (`max_model_len`); LoRA adapters have that of their `parent`, and state none. */
export async function listedContextTokensMax(get: Get): Promise<number | undefined> {
  const listed = [...(readModels(await get(MODELS_PATH))?.values() ?? [])];
  const entries = listed.filter(({ parent }) => typeof parent !== 'string');
  const lengths = entries.map((entry) => asCount(entry['max_model_len']) ?? Infinity);
  const longest = Math.max(0, ...lengths);
  return longest > 0 && longest < Infinity ? longest : undefined;
}

/** Whether the server's model list names `owner`, as most engines do with their own name. */
export async function listsModelsOf(get: Get, owner: string): Promise<boolean> {
  return [...(readModels(await get(MODELS_PATH))?.values() ?? [])].some((entry) => entry['owned_by'] === owner);
}
