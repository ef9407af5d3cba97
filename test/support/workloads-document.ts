import { z } from 'zod';
import { fileSchema, specSchema } from '../../workloads/synthetic/spec.js';
import { WORKLOAD_NAMES, WORKLOADS } from '../../workloads/synthetic/workloads.js';
import { figuresOf, take } from './workload-figures.js';

/** Number of programs behind the document's figures, with seed 1. */
export const DOCUMENTED_PROGRAMS = 1000;

const HEAD = `# Workloads

Generated from \`workloads/synthetic/\` by \`npm run docs\`; a test keeps both equal.

A workload generates agent programs: calls, token counts, shared prefixes, dependencies and gaps, but no text. The stream of
programs is endless. Each program has its own random stream, so program 17 of seed 3 is always the same, however many are drawn.
[JSON.md](JSON.md#programs-as-a-file) describes programs as files, and recordings.

\`\`\`sh
maitred sim --workload mixed --rate 0.8       # a built-in one
maitred sim --workload helpdesk.yaml --rate 2 # your own
\`\`\`

## Built in

| Workload | Programs |
| --- | --- |
| \`chat\` | conversations of people with a model, with ShareGPT's turns and lengths |
| \`react\` | agents that call tools one by one, with the turns and calls of BFCL's multi-turn tasks |
| \`mcts\` | Monte Carlo tree search as LATS does it: five proposals side by side, a join, five judgements, a join |
| \`map-reduce\` | a parent that starts sub-agents, each a thread, and summarises their reports |
| \`coding\` | agents on SWE-bench tasks: a context that grows for dozens of calls, gaps by tool |
| \`mixed\` | equal thirds of \`chat\`, \`react\` and \`mcts\` |
| \`fleet\` | equal quarters of \`chat\`, \`react\`, \`mcts\` and \`coding\` |
| \`tenants\` | ten tenants after SAGA: three light ones (agents of 10 calls, 4 a minute each), four medium (30, 8), three heavy (100, 16), one of them in bursts |

**Shared prompts.** All programs of a workload begin with its system prompt. Each later call extends an earlier one: its prompt and its
answer, without reasoning, which is not sent back. Proposals of one node have equal prompts. A judgement extends the prompt of the node
above, but not its answer. Sub-agents begin anew, and only their reports return to the parent.

**Gaps.** Tools take time (\`ms\`, \`toolMs\`). People in the built-in \`chat\` answer at once, as in a replayed recording; otherwise
reading time would dominate time per token. If that time matters, because contexts are kept during it, set \`thinkMs\` as
[helpdesk.yaml](../examples/workloads/helpdesk.yaml) does.

Mean / median / 95th percentile of the first ${DOCUMENTED_PROGRAMS.toLocaleString('en-US')} programs of seed 1:
`;

const OWN = `## Your own

A YAML file of at most 1 MiB describes workloads by name; \`--workload FILE\` runs one of them. All faults are reported together, each with
its line and key: unknown keys, numbers out of range, unbounded sizes, mixtures of nothing or of themselves. Examples:
[helpdesk.yaml](../examples/workloads/helpdesk.yaml), [research.yaml](../examples/workloads/research.yaml),
[office.yaml](../examples/workloads/office.yaml), [agent-types.yaml](../examples/workloads/agent-types.yaml) with eight families of system
prompts, and for load tests [requests.yaml](../examples/workloads/requests.yaml),
[small-agents.yaml](../examples/workloads/small-agents.yaml) and [small-team.yaml](../examples/workloads/small-team.yaml).

A *size* is a number, or a distribution:

\`\`\`yaml
outputTokens: 200
outputTokens: { dist: log-normal, median: 90, p95: 1000, max: 4000 }
\`\`\`

| Distribution | Keys | Draws |
| --- | --- | --- |
| \`constant\` | \`value\` | always that |
| \`uniform\` | \`min\`, \`max\` | uniformly from \`min\` to \`max\` |
| \`log-normal\` | \`median\`, \`p95\`, \`max\`, \`min\` | half below \`median\`, 95 % below \`p95\` |
| \`gamma\` | \`mean\`, \`cv\`, \`max\`, \`min\` | \`cv\` is the standard deviation over the mean; 1 is exponential |
| \`geometric\` | \`mean\`, \`max\`, \`min\` | 1, 2, 3, ...: trials until the first success |
| \`quantiles\` | \`points\` | a measured distribution: pairs of a share (0 to 1) and its quantile, interpolated linearly; two pairs with one value make a step |

Draws are clamped to \`min\` and \`max\`. \`max\` is required for unbounded distributions; \`min\` defaults to the least value that the key
allows. Counts and tokens are rounded. A distribution may have a \`source\`, which is not used.
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
    `Each value of a built-in workload has its source beside it, in \`workloads/synthetic/built-in.ts\`: a publication, or a public recording that \`npx vitest run test/workloads/synthetic/recorded.test.ts\` measures again.\n`,
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
  return isRequired ? 'required' : 'none';
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

function table([head, ...rows]: readonly (readonly string[])[]): string {
  return [head!, head!.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const code = (text: string): string => `\`${text}\``;
