import { z } from 'zod';
import { BUILT_IN } from '../../workloads/synthetic/built-in.js';
import { fileSchema, specSchema } from '../../workloads/synthetic/spec.js';
import { WORKLOAD_NAMES, WORKLOADS } from '../../workloads/synthetic/workloads.js';
import { figuresOf, take } from './workload-figures.js';

/** Number of programs behind the document's figures, with seed 1. */
export const DOCUMENTED_PROGRAMS = 1000;

const HEAD = `# Workloads

Made from \`workloads/synthetic/\` by \`npm run docs\`; a test fails when the two differ.

A workload makes agent programs up: calls, their lengths, what they share, what waits for what, and the time between
them; no words. Programs are drawn one by one and without end. Each has a stream of chance of its own, so that program
17 of seed 3 is always the same, however many are drawn. What a program is as a file, [PROGRAMS.md](PROGRAMS.md) says;
for recordings instead of made-up programs see there too.

\`\`\`sh
maitred sim --workload mixed --rate 0.8       # a built-in one
maitred sim --workload helpdesk.yaml --rate 2 # one of your own
\`\`\`

## Built in

| Workload | Programs |
| --- | --- |
| \`chat\` | people who talk with a model, in the turns and lengths of ShareGPT |
| \`react\` | agents that call tools one after the other, with the turns and calls of BFCL's multi-turn tasks |
| \`mcts\` | Monte Carlo tree search as LATS does it: five proposals side by side, a join, five judgements, a join |
| \`map-reduce\` | a parent that sends out sub-agents, each a thread, and sums up when all have reported |
| \`coding\` | agents on SWE-bench tasks: a context that grows for dozens of calls, gaps by tool |
| \`mixed\` | equal thirds of \`chat\`, \`react\` and \`mcts\` |
| \`fleet\` | equal quarters of \`chat\`, \`react\`, \`mcts\` and \`coding\` |
| \`tenants\` | ten tenants after SAGA: three light ones (agents of 10 calls, 4 a minute each), four medium (30, 8), three heavy (100, 16), one of them in bursts |

**What prompts share.** Each program of a workload begins with the workload's system prompt, which all share. Each
later call goes on from one before it: its prompt, and its answer too, unless that was reasoned, as reasoning is not
sent back. Proposals of one node have the same prompt; a judgement goes on from that of the node above, whose answer
it does not keep. Sub-agents begin anew, and only their reports come back to the parent.

**Time between calls.** Tools take theirs (\`ms\`, \`toolMs\`). People in the built-in \`chat\` answer at once, as a
recording does that is played to an engine: a measure of time by tokens would else be mostly the minute in which an
answer is read. Where that time matters, for contexts that are kept for it, set \`thinkMs\`, as
[helpdesk.yaml](../examples/workloads/helpdesk.yaml) does.

Mean / median / 95th percentile of the first ${DOCUMENTED_PROGRAMS.toLocaleString('en-US')} programs of seed 1:
`;

const OWN = `## Your own

A YAML file (1 MiB at most) describes workloads by name; \`--workload FILE\` runs one of them. Whatever is wrong with it
is told at once, each with its line and the path of the key: unknown keys, numbers out of range, sizes without bound, mixtures
that name nothing or themselves. Some to begin with: [helpdesk.yaml](../examples/workloads/helpdesk.yaml),
[research.yaml](../examples/workloads/research.yaml), [office.yaml](../examples/workloads/office.yaml),
[agent-types.yaml](../examples/workloads/agent-types.yaml) with eight families of system prompts, and for load tests
[requests.yaml](../examples/workloads/requests.yaml) and [small-agents.yaml](../examples/workloads/small-agents.yaml).

A *size* is a number, or a distribution:

\`\`\`yaml
outputTokens: 200
outputTokens: { dist: log-normal, median: 90, p95: 1000, max: 4000 }
\`\`\`

| Distribution | Keys | Draws |
| --- | --- | --- |
| \`constant\` | \`value\` | always that |
| \`uniform\` | \`min\`, \`max\` | from \`min\` to \`max\`, all alike |
| \`log-normal\` | \`median\`, \`p95\`, \`max\`, \`min\` | half below \`median\`, 95 % below \`p95\` |
| \`gamma\` | \`mean\`, \`cv\`, \`max\`, \`min\` | of that mean; \`cv\` is the standard deviation over it, 1 is exponential |
| \`geometric\` | \`mean\`, \`max\`, \`min\` | 1, 2, 3, ... as often as throws until the first success |
| \`quantiles\` | \`points\` | a measured one: pairs of a share and the value that it is at most, from share 0 to share 1, on straight lines between them; two pairs with one value make a step |

A draw beyond \`min\` or \`max\` becomes that. \`max\` must be given where there is no other bound; \`min\` is by default the
least that the key allows. Counts and tokens are rounded to whole numbers. Each may have a \`source\`, which nothing reads.
`;

/** The text of docs/WORKLOADS.md: handwritten text, and tables from the schema and the workloads. */
export function renderWorkloadsDocument(): string {
  const kinds = specSchema.options.map((schema) => {
    const { kind } = schema.shape;
    return `### \`kind: ${kind.value}\`\n\n${keysTable(schema, '')}\n`;
  });
  return [
    HEAD,
    figuresTable(),
    '\n',
    OWN,
    `\n### The file\n\n${keysTable(fileSchema, '', ['workloads'])}\n`,
    ...kinds,
    `## Sources of the built-in ones\n\nThe values themselves are in \`workloads/synthetic/built-in.ts\`. *Measured* are the public recordings that \`maitred trace\` reads; where they are at hand, \`npx vitest run test/workloads/synthetic/recorded.test.ts\` measures them again. *Assumed* is what no source tells.\n\n${sourcesTable()}\n`,
  ].join('\n');
}

function figuresTable(): string {
  const columns = WORKLOAD_NAMES.map((name) => figuresOf(take(WORKLOADS[name], DOCUMENTED_PROGRAMS)));
  const titles = Object.keys(columns[0]!) as (keyof (typeof columns)[0])[];
  return table([
    ['', ...WORKLOAD_NAMES.map(code)],
    ...titles.map((title) => [
      title,
      ...columns.map((figures) => Object.values(figures[title]).map(short).join(' / ')),
    ]),
  ]);
}

const short = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });

type JsonSchema = z.core.JSONSchema.JSONSchema;

function keysTable(schema: z.ZodType, prefix: string, leaves: readonly string[] = []): string {
  const rows = rowsOf(z.toJSONSchema(schema, { io: 'input' }), prefix, leaves);
  return table([['Key', 'Meaning', 'Unit', 'Default', 'Range'], ...rows]);
}

function rowsOf({ properties = {}, required = [] }: JsonSchema, prefix: string, leaves: readonly string[]): string[][] {
  return Object.entries(properties).flatMap(([name, given]): string[][] => {
    const schema = given as JsonSchema;
    if (name === 'kind' || name === 'source') return [];
    const path = prefix + name;
    const row = [
      code(path),
      schema.description ?? '',
      unitOf(name),
      defaultOf(schema, required.includes(name)),
      rangeOf(schema),
    ];
    // The keys of a sub-agent are those of an agent.
    if (leaves.includes(name) || name === 'subAgent') return [row];
    const items = schema.items as JsonSchema | undefined;
    return [row, ...rowsOf(items ?? schema, `${path}${items ? '[]' : ''}.`, leaves)];
  });
}

function unitOf(name: string): string {
  if (/tokens(Max)?$/i.test(name)) return 'tokens';
  return /ms$/i.test(name) ? 'ms' : '';
}

function defaultOf(schema: JsonSchema, isRequired: boolean): string {
  if (schema.default !== undefined) return code(JSON.stringify(schema.default));
  return isRequired ? 'must be given' : 'none';
}

function rangeOf(schema: JsonSchema): string {
  const [number] = schema.anyOf ?? [];
  if (number !== undefined) return `size, ${bounds(number)}`;
  if (schema.type === 'array') return `list of at most ${schema.maxItems!}`;
  if (schema.type === 'object') return 'mapping';
  return schema.type === 'string' ? 'name' : bounds(schema);
}

const bounds = ({ minimum, exclusiveMinimum, maximum }: JsonSchema): string =>
  `${minimum ?? `above ${exclusiveMinimum!}`} to ${maximum!.toLocaleString('en-US')}`;

function sourcesTable(): string {
  const rows = Object.entries(BUILT_IN).flatMap(([name, spec]) => sourcesOf(spec, name));
  const unlike = new Map(rows.map((row) => [row.join(), row]));
  return table([['Key', 'Source'], ...unlike.values()]);
}

/** Everything with a source; the items of a list under one key. */
function sourcesOf(value: unknown, path: string): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  const { source, ...rest } = value as { readonly source?: string };
  const below = Object.entries(rest).flatMap(([key, each]) =>
    sourcesOf(each, Array.isArray(value) ? `${path}[]` : `${path}.${key}`),
  );
  return source === undefined ? below : [[code(path), source], ...below];
}

function table([head, ...rows]: readonly (readonly string[])[]): string {
  return [head!, head!.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const code = (text: string): string => `\`${text}\``;
