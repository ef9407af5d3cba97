import { z } from 'zod';
import { BALANCER_SENTENCES, POLICY_SENTENCES } from '../../cli/choices-help.js';
import { CONFIG_KEYS, type ConfigKey } from '../../sidecar/config/keys.js';
import { readText } from './tree.js';

const MARK = '<!-- The rest is generated. -->\n';

/** The text of docs/CONFIG.md: its handwritten head, and a table for each section of the schema. */
export function renderConfigDocument(): string {
  const sections = new Map<string, ConfigKey[]>();
  for (const key of CONFIG_KEYS.filter((each) => !isEngineDefault(each))) {
    const name = key.segments[0]!;
    sections.set(name, [...(sections.get(name) ?? []), key]);
  }
  const tables = [...sections].map(([name, keys]) => `\n## \`${name}\`\n\n${table(keys)}\n${choices(name)}`);
  const [head = ''] = readText('docs/CONFIG.md').split(MARK);
  return head + MARK + tables.join('');
}

/** A list of what can be chosen, below the section's table. */
function choices(section: string): string {
  if (section === 'discovery')
    return '\nEach source also takes the keys of `engines[]` but `url` and `id`, as defaults for its engines.\n';
  const sentences = { policy: POLICY_SENTENCES, balancer: BALANCER_SENTENCES }[section];
  if (sentences === undefined) return '';
  return `\n${Object.entries(sentences)
    .map(([name, sentence]) => `- ${code(name)}: ${sentence}\n`)
    .join('')}`;
}

function table(keys: readonly ConfigKey[]): string {
  const head = ['Key', 'Meaning', 'Default'];
  return [head, head.map(() => '---'), ...keys.map(cells)].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function cells(key: ConfigKey): string[] {
  const { note } = key;
  const marks = [note.secret && ' *Secret.*', note.restart && ' *Restart.*'].filter(Boolean).join('');
  const [value, source] = [defaultOf(key) + othersOf(key), sourceOf(note.source)];
  const origin = value === '' || source === '' ? source : ` (${source})`;
  return [code(key.path), note.description + marks, value + origin];
}

/** Keys of engines that sources take too. */
const isEngineDefault = ({ path, note }: ConfigKey): boolean =>
  path.startsWith('discovery[].') &&
  CONFIG_KEYS.some(
    (key) => key.path === path.replace('discovery', 'engines') && key.note.description === note.description,
  );

const MEASURED = /^measured: lab\/NOTEBOOK.md, “(.*)”$/;

/** Measured ones as a link. */
function sourceOf(source: string): string {
  const anchor = (title: string) =>
    title
      .toLowerCase()
      .replace(/[^a-z ]/g, '')
      .replaceAll(' ', '-');
  return source.replace(MEASURED, (_, title: string) => `[measured](../lab/NOTEBOOK.md#${anchor(title)})`);
}

function defaultOf({ note, schema }: ConfigKey): string {
  const value: unknown = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
  if (note.default !== undefined) return note.default;
  if (value === undefined) return '';
  return Array.isArray(value) ? (value.length === 0 ? 'empty' : value.map(code).join(', ')) : code(value);
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The words that may be chosen, but for those of the default and the meaning. What refuses a number tells its range. */
function othersOf({ schema, note }: ConfigKey): string {
  const json = z.toJSONSchema(schema, { io: 'input' });
  const chosen = [json.default].flat();
  const others = wordsOf(json).filter(
    (word) => !chosen.includes(word as never) && !note.description.includes(code(word)),
  );
  return others.length === 0 ? '' : `, or ${others.map(code).join(', ')}`;
}

function wordsOf({ anyOf = [], items, enum: words = [], const: word }: JsonSchema): unknown[] {
  const inner = [...anyOf, ...(items === undefined ? [] : [items as JsonSchema])] as JsonSchema[];
  return [...words, ...(word === undefined ? [] : [word]), ...inner.flatMap(wordsOf)];
}

const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
