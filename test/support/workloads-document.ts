import { z } from 'zod';
import { fileSchema, specSchema } from '../../workloads/synthetic/spec.js';
import { WORKLOAD_NAMES, WORKLOADS } from '../../workloads/synthetic/file.js';
import { readText } from './tree.js';
import { figuresOf, take } from './workload-figures.js';

/** Number of programs behind the document's figures, with seed 1. */
const DOCUMENTED_PROGRAMS = 1000;

/** The figures by which a reader chooses a workload. */
const TITLES = [
  'calls a program',
  'prompt tokens a call',
  'output tokens a call',
  'seconds of gaps on the longest way',
] as const;

const MARKS = {
  figures: /(<!-- figures -->\n)[^]*?(\n<!-- end -->)/,
  keys: /(<!-- The rest is generated. -->\n)[^]*$/,
};

/** The text of docs/WORKLOADS.md: its handwritten text, and tables from the schema and the workloads. */
export function renderWorkloadsDocument(): string {
  const kinds = specSchema.options.map((schema) => {
    const { kind } = schema.shape;
    return `### \`kind: ${kind.value}\`\n\n${keysTable(schema, '')}\n`;
  });
  const keys = [`### The file\n\n${keysTable(fileSchema, '', ['workloads'])}\n`, ...kinds].join('\n');
  return readText('docs/WORKLOADS.md')
    .replace(MARKS.figures, (_, before: string, after: string) => `${before}${figuresTable()}${after}`)
    .replace(MARKS.keys, (_, before: string) => `${before}\n${keys}`);
}

function figuresTable(): string {
  const columns = WORKLOAD_NAMES.map((name) => figuresOf(take(WORKLOADS[name], DOCUMENTED_PROGRAMS)));
  return table([
    ['', ...WORKLOAD_NAMES.map(code)],
    ...TITLES.map((title) => [
      title,
      ...columns.map((figures) => Object.values(figures[title]).map(short).join(' / ')),
    ]),
  ]);
}

const short = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });

type JsonSchema = z.core.JSONSchema.JSONSchema;

function keysTable(schema: z.ZodType, prefix: string, leaves: readonly string[] = []): string {
  const rows = rowsOf(z.toJSONSchema(schema, { io: 'input' }), prefix, leaves);
  return table([['Key', 'Meaning', 'Default'], ...rows]);
}

function rowsOf({ properties = {}, required = [] }: JsonSchema, prefix: string, leaves: readonly string[]): string[][] {
  return Object.entries(properties).flatMap(([name, given]): string[][] => {
    const schema = given as JsonSchema;
    if (name === 'kind' || name === 'source') return [];
    const path = prefix + name;
    const size = schema.anyOf === undefined ? '' : ' *Size.*';
    const row = [code(path), schema.description! + size, defaultOf(schema, required.includes(name))];
    // The keys of a sub-agent are those of an agent, and those of its one system prompt those of `system[]`.
    if (leaves.includes(name) || name === 'subAgent' || (name === 'system' && schema.items === undefined)) return [row];
    const items = schema.items as JsonSchema | undefined;
    return [row, ...rowsOf(items ?? schema, `${path}${items ? '[]' : ''}.`, leaves)];
  });
}

function defaultOf(schema: JsonSchema, isRequired: boolean): string {
  if (schema.default !== undefined) return code(JSON.stringify(schema.default));
  return isRequired ? 'required' : 'none';
}

function table([head, ...rows]: readonly (readonly string[])[]): string {
  return [head!, head!.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const code = (text: string): string => `\`${text}\``;
