import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseJson } from '../../sidecar/apis/fields.js';
import { similarTo } from '../../sidecar/config/index.js';
import { complain } from '../trace-file.js';

const PLACEHOLDER = /\$\{([^{}]+)\}/g;
/** Texts that are remembered, as the lines that they may mean follow later, and warnings that are printed. */
const FOUND_MAX = 10_000;
const WARNED_MAX = 5;

/**
 * Warns of `${name}` that is sent as it is, though `name` is a line of the file, or resembles one that the line waits for.
 * @param file a batch without faults
 */
export async function warnOfPlaceholders(file: string): Promise<void> {
  const ids = new Set<string>();
  const found: { readonly place: string; readonly name: string; readonly after: readonly string[] }[] = [];
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number += 1;
    // A line that holds a line separator of Unicode comes in parts here.
    const { custom_id: id, after = [] } = (parseJson(text) ?? {}) as { custom_id?: string; after?: readonly string[] };
    if (id === undefined) continue;
    ids.add(id);
    const names = new Set(Array.from(text.matchAll(PLACEHOLDER), ([, name = '']) => name));
    for (const name of names)
      if (name !== 'item' && !after.includes(name) && found.length < FOUND_MAX)
        found.push({ place: `${file}:${number}`, name, after });
  }
  const warnings = found.flatMap(({ place, name, after }) => {
    const meant = ids.has(name) ? name : similarTo(name, after);
    if (meant === undefined) return [];
    const advice = meant === name ? `"after" does not name ${name}` : `did you mean \${${meant}}?`;
    return [`${place}: \${${name}} is sent as it is: ${advice}`];
  });
  for (const warning of warnings.slice(0, WARNED_MAX)) complain(warning);
  if (warnings.length > WARNED_MAX) complain(`${warnings.length - WARNED_MAX} more texts like this`);
}
