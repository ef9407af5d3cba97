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
  const head = ['Key', 'Meaning', 'Default', 'Range'];
  return [head, head.map(() => '---'), ...keys.map(cells)].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function cells(key: ConfigKey): string[] {
  const { note } = key;
  const marks = [note.secret && ' *Secret.*', note.restart && ' *Restart.*'].filter(Boolean).join('');
  const [value, source] = [defaultOf(key), sourceOf(note.source)];
  const origin = value === '' || source === '' ? source : ` (${source})`;
  return [code(key.path), note.description + marks, value + origin, rangeOf(jsonSchema(key)).replace(/^text$/, '')];
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
  const anchor = (title: string) => title.toLowerCase().replace(/[^a-z ]/g, '').replaceAll(' ', '-'); // prettier-ignore
  return source.replace(MEASURED, (_, title: string) => `[measured](../lab/NOTEBOOK.md#${anchor(title)})`);
}

function defaultOf({ note, schema }: ConfigKey): string {
  const value: unknown = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
  if (note.default !== undefined) return note.default;
  if (value === undefined) return '';
  return Array.isArray(value) ? (value.length === 0 ? 'empty' : value.map(code).join(', ')) : code(value);
}

type JsonSchema = z.core.JSONSchema.JSONSchema;
const jsonSchema = (key: ConfigKey) => z.toJSONSchema(key.schema, { io: 'input' });

function rangeOf(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map((option) => rangeOf(option)).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ');
  if (schema.const !== undefined) return code(schema.const);
  if (schema.minimum !== undefined) return `${schema.minimum}–${schema.maximum!}`;
  if (schema.type === 'boolean') return '';
  if (schema.type === 'array')
    return `list${schema.minItems === undefined ? '' : `, at least ${schema.minItems}`}${listed(schema)}`;
  if (schema.type === 'object')
    return isMapping(schema.additionalProperties) ? 'a mapping by name' : 'a number by name';
  if (schema.minLength !== undefined && schema.minLength > 1) return `at least ${schema.minLength} characters`;
  return schema.type === 'null' ? 'null' : 'text';
}

const isMapping = (each: JsonSchema['additionalProperties']): boolean =>
  typeof each === 'object' && each.type === 'object';

function listed({ items }: JsonSchema): string {
  const words = (items as JsonSchema).enum;
  return words === undefined ? '' : ` of ${words.map(code).join(', ')}`;
}

const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
