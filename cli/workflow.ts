import type { Command } from 'commander';
import { plain, textTable } from '../text/index.js';
import { rounded, type NodeRest } from '../sidecar/workflows/analysis.js';
import { readWorkflow } from '../sidecar/workflows/files.js';

/** `maitred workflow`: checks declared workflows. */
export function addWorkflowCommand(program: Command): void {
  const workflow = program.command('workflow').description('check declared workflows');
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
}

function table(rest: readonly NodeRest[]): string {
  const columns = ['calls', 'prompt tokens', 'output tokens', 'tools, s'];
  const rows = rest.map(({ id, calls, promptTokens, outputTokens, toolMs }) => [
    id,
    ...[calls, promptTokens, outputTokens, toolMs / 1000].map((value) =>
      value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 }),
    ),
  ]);
  return textTable('node', [{ heading: '', columns }], rows).join('\n');
}
