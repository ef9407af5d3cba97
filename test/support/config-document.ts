import { z } from 'zod';
import { BALANCER_SENTENCES, POLICY_SENTENCES } from '../../sidecar/config/choices.js';
import { CONFIG_KEYS, type ConfigKey } from '../../sidecar/config/keys.js';
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
2. an environment variable, named in the tables below. An empty variable counts as unset. \`null\` unsets a key that may
   be null. Lists are separated by commas; \`MAITRED_ENGINES\` is a list of base URLs. Unknown variables with the prefix
   \`MAITRED_\` are rejected, except those that Kubernetes sets for a Service called \`maitred\`;
3. the YAML file named by \`--config\` or otherwise by \`${FILE_VARIABLE}\`;
4. the default.

**Units.** A name ends in its unit: \`Ms\` milliseconds, \`Bytes\`, \`Tokens\`.

**Secrets** may be given as \`env:NAME\` in the file, which reads the variable \`NAME\` (without the prefix \`MAITRED_\`). They
are shown as \`[redacted]\`.

**Reload.** SIGHUP reloads the file. The new configuration takes effect without losing a call. An invalid one is logged with
its invalid keys, and the old one stays in effect. Keys marked *restart* keep their value until the next start. Without a
file, SIGHUP drains and exits, like SIGTERM.

**Sources.** A *starting value* has not been measured yet. *Autellix* is the paper that the scheduler builds on
(*Autellix: An Efficient Serving Engine for LLM Agents as General Programs*, 2025).
`;

/** The text of docs/CONFIG.md: a handwritten head, and a table for each section of the schema. */
export function renderConfigDocument(): string {
  const sections = new Map<string, ConfigKey[]>();
  for (const key of CONFIG_KEYS) {
    const name = key.segments[0]!;
    sections.set(name, [...(sections.get(name) ?? []), key]);
  }
  const tables = [...sections].map(([name, keys]) => `\n## \`${name}\`\n\n${table(keys)}\n${choices(name)}`);
  return HEAD + tables.join('');
}

/** A list of what can be chosen, below the section's table. */
function choices(section: string): string {
  const sentences = { policy: POLICY_SENTENCES, balancer: BALANCER_SENTENCES }[section];
  if (sentences === undefined) return '';
  return `\n${Object.entries(sentences)
    .map(([name, sentence]) => `- ${code(name)}: ${sentence}\n`)
    .join('')}`;
}

function table(keys: readonly ConfigKey[]): string {
  const head = ['Key', 'Meaning', 'Unit', 'Default', 'Range', 'Source of the default', 'Variable'];
  return [head, head.map(() => '---'), ...keys.map(cells)].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function cells(key: ConfigKey): string[] {
  const { note } = key;
  const marks = [note.secret && ' *Secret.*', note.restart && ' *Restart.*'].filter(Boolean).join('');
  const variable = key.env === undefined ? '' : code(key.env);
  return [
    code(key.path),
    note.description + marks,
    unitOf(key),
    defaultOf(key),
    rangeOf(jsonSchema(key)),
    note.source,
    variable,
  ];
}

function defaultOf({ note, default: value }: ConfigKey): string {
  if (note.default !== undefined) return note.default;
  if (value === undefined) return 'none';
  return Array.isArray(value) ? (value.length === 0 ? 'empty' : value.map(code).join(', ')) : code(value);
}

function unitOf(key: ConfigKey): string {
  const name = key.segments.at(-1)!;
  if (/^msPer/.test(name)) return 'ms per token';
  const unit = /(Ms|Bytes|Tokens)(Max)?$/.exec(name)?.[1];
  if (unit !== undefined) return { Ms: 'ms', Bytes: 'bytes', Tokens: 'tokens' }[unit]!;
  return jsonSchema(key).type === 'integer' && name !== 'port' ? 'count' : '';
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
