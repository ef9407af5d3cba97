import type { JsonObject } from '../apis/api.js';
import { isObject, listOf, objectOf, parseObject, stringOf } from '../apis/fields.js';

/**
 * The list with a note at the end of its last message or tool result. It becomes no message of its own, as many chat
 * templates refuse two of a role in a row. Undefined if the list does not end with words to the model.
 * @param list name of its field, `messages` or `input`; undefined: the API has none
 */
export function withNote(raw: Buffer, list: string | undefined, note: string): JsonObject | undefined {
  if (list === undefined) return undefined;
  const given = parseObject(raw.toString())?.[list];
  if (typeof given === 'string') return { [list]: `${given}\n\n${note}` };
  const items = listOf(given);
  const last = objectOf(items.at(-1));
  const isResult = stringOf(last['type']).endsWith('call_output');
  if (!isResult && !['user', 'tool', 'function'].includes(stringOf(last['role']))) return undefined;
  const field = isResult ? 'output' : 'content';
  const said = last[field];
  const type = list === 'input' ? 'input_text' : 'text';
  const noted = typeof said === 'string' ? `${said}\n\n${note}` : [...listOf(said), { type, text: note }];
  return listOf(said).every(isObject) ? { [list]: [...items.slice(0, -1), { ...last, [field]: noted }] } : undefined;
}
