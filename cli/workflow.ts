import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { plain, textTable } from '../text/index.js';
import { rounded, type NodeRest } from '../sidecar/workflows/analysis.js';
import { checkWorkflow, readWorkflow } from '../sidecar/workflows/files.js';
import { TOKENS_MAX } from '../sidecar/workflows/schema.js';
import { checkWritable } from './files.js';
import { numberFrom } from './options.js';
import { importWorkflow, type ImportOptions } from './workflow/import.js';

interface ImportFlags extends ImportOptions {
  readonly out: string;
}

/** `maitred workflow`: checks declared workflows, and makes them of files of other tools. */
export function addWorkflowCommand(program: Command): void {
  const workflow = program.command('workflow').description('check declared workflows, or import them from other tools');
  workflow
    .command('check')
    .description('print the expected rest of a program from each node (docs/WORKFLOWS.md)')
    .argument('<file>', 'workflow, JSON or YAML')
    .option('--json', 'print the figures as JSON')
    .action((file: string, { json }: { readonly json?: true }) => {
      const { workflow: checked, nodes } = readWorkflow(file);
      const { name } = checked;
      const rest = nodes.map(rounded);
      const text = json ? JSON.stringify({ version: 1, name, rest }) : plain(`${name}\n\n${table(rest)}`);
      process.stdout.write(`${text}\n`);
    });
  const tokens = numberFrom(0, TOKENS_MAX, 'a whole number');
  const made = workflow
    .command('import')
    .description('convert a LangGraph graph or AIPerf’s dag_jsonl into a workflow');
  made
    .argument('<file>', 'output of get_graph().to_json(), or a dag_jsonl file')
    .option('--name <text>', 'its name (default: that of the file)')
    .option('--session <id>', 'the root session of a dag_jsonl file that has several')
    .option('--prompt-tokens <count>', 'uncached prompt tokens of a call, if the file has none', tokens, 1000)
    .option('--output-tokens <count>', 'output tokens of a call, if the file has none', tokens, 200)
    .option('-o, --out <file>', 'file to write; - is stdout', '-')
    .action((file: string, { out, ...options }: ImportFlags) => {
      if (out !== '-') checkWritable(made, out);
      const graph = importWorkflow(file, options);
      checkWorkflow(graph, () => file);
      const text = `${JSON.stringify(graph, null, 2)}\n`;
      if (out === '-') process.stdout.write(text);
      else writeFileSync(out, text);
    });
}

function table(rest: readonly NodeRest[]): string {
  const columns = ['calls', 'prompt tokens', 'output tokens', 'tools, s', 'depth'];
  const rows = rest.map(({ id, calls, promptTokens, outputTokens, toolMs, depth }) => [
    id,
    ...[calls, promptTokens, outputTokens, toolMs / 1000, depth].map((value) =>
      value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 }),
    ),
  ]);
  return textTable('node', [{ heading: '', columns }], rows).join('\n');
}
