import { z } from 'zod';
import { BALANCER_SENTENCES, POLICY_SENTENCES } from '../../sidecar/config/choices.js';
import { CONFIG_KEYS, type ConfigKey } from '../../sidecar/config/keys.js';
import { NONE, STARTING } from '../../sidecar/config/note.js';
import { FILE_VARIABLE } from '../../sidecar/config/overrides.js';

const HEAD = `# Configuration

Generated from \`sidecar/config/schema.ts\` by \`npm run docs\`; a test fails if the two differ.

Most gateways need six of these keys; all others have defaults.

| Key | When |
| --- | --- |
| \`engines[].url\` | always, unless \`discovery\` finds the engines |
| \`listen.host\` | \`0.0.0.0\` as soon as clients are on other machines |
| \`auth.keys\` | then too: without keys everybody who reaches the port may call |
| \`admin.token\` | for the page, \`maitred top\` and metrics once there are keys |
| \`engines[].capacityTokens\` | where the log says that an engine's capacity is unknown; without it there is no working-set gate |
| \`policy.name\` | \`fcfs-window\` for the gate without the order, \`pass-through\` to compare |

\`\`\`yaml
listen:
  host: 0.0.0.0
engines:
  - url: http://gpu-1:8000
  - url: http://gpu-2:8000
    apiKey: env:GPU2_KEY
auth:
  keys:
    - sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef # printf %s "$KEY" | sha256sum
      tenant: research
\`\`\`

\`maitred init\` writes such a file, \`maitred config\` checks it, prints it without its secrets and names every invalid key (exit code 2).

## How it is read

The first of these sources with a value wins:

1. a flag of \`maitred serve\` (\`maitred serve --help\` lists them);
2. an environment variable: that of \`limits.bodyBytes\` is \`MAITRED_LIMITS_BODY_BYTES\`. An empty one counts as unset, \`null\` unsets a key that may
   be null, commas separate lists, and \`MAITRED_ENGINES\` lists base URLs. Unknown ones with the prefix \`MAITRED_\` are rejected.
   \`auth.keys\`, \`discovery\`, keys inside lists (\`[]\`) and mappings have none;
3. the YAML file named by \`--config\` or otherwise by \`${FILE_VARIABLE}\`;
4. the default.

**Units.** A name ends in its unit: \`Ms\` milliseconds, \`Bytes\`, \`Tokens\`. Other whole numbers are counts.

**Secrets** may be given as \`env:NAME\` in the file, which reads the variable \`NAME\` (without the prefix \`MAITRED_\`).

**Reload.** SIGHUP reloads the file. No call is lost. An invalid file is logged with
its invalid keys, and changes nothing. Keys marked *restart* change at the next start.

**Sources of defaults.** Where none is given, the default is a starting value, not measured yet. *Autellix* is the paper that the scheduler builds on
(*Autellix: An Efficient Serving Engine for LLM Agents as General Programs*, 2025).
`;

/** The text of docs/CONFIG.md: a handwritten head, and a table for each section of the schema. */
export function renderConfigDocument(): string {
  const sections = new Map<string, ConfigKey[]>();
  for (const key of CONFIG_KEYS.filter((each) => !isEngineDefault(each))) {
    const name = key.segments[0]!;
    sections.set(name, [...(sections.get(name) ?? []), key]);
  }
  const tables = [...sections].map(([name, keys]) => `\n## \`${name}\`\n\n${table(keys)}\n${choices(name)}`);
  return HEAD + tables.join('');
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
  const head = ['Key', 'Meaning', 'Default', 'Range', 'Source'];
  return [head, head.map(() => '---'), ...keys.map(cells)].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function cells(key: ConfigKey): string[] {
  const { note } = key;
  const marks = [note.secret && ' *Secret.*', note.restart && ' *Restart.*'].filter(Boolean).join('');
  return [code(key.path), note.description + marks, defaultOf(key), rangeOf(jsonSchema(key)), sourceOf(note.source)];
}

/** Keys of engines that sources take too. */
const isEngineDefault = ({ path, note }: ConfigKey): boolean =>
  path.startsWith('discovery[].') &&
  CONFIG_KEYS.some(
    (key) => key.path === path.replace('discovery', 'engines') && key.note.description === note.description,
  );

const MEASURED = /^measured: lab\/NOTEBOOK.md, “(.*)”$/;

/** Measured ones as a link; starting values say nothing. */
function sourceOf(source: string): string {
  if (source === STARTING || source === NONE) return '';
  const anchor = (title: string) => title.toLowerCase().replace(/[^a-z ]/g, '').replaceAll(' ', '-'); // prettier-ignore
  return source.replace(MEASURED, (_, title: string) => `[measured](../lab/NOTEBOOK.md#${anchor(title)})`);
}

function defaultOf({ note, default: value }: ConfigKey): string {
  if (note.default !== undefined) return note.default;
  if (value === undefined) return 'none';
  return Array.isArray(value) ? (value.length === 0 ? 'empty' : value.map(code).join(', ')) : code(value);
}

type JsonSchema = z.core.JSONSchema.JSONSchema;
const jsonSchema = (key: ConfigKey) => z.toJSONSchema(key.schema, { io: 'input' });

function rangeOf(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map((option) => rangeOf(option)).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ');
  if (schema.const !== undefined) return code(schema.const);
  if (schema.minimum !== undefined) return `${schema.minimum} to ${schema.maximum!}`;
  if (schema.type === 'boolean') return 'true, false';
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
