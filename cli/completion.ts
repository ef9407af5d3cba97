import { Argument, type Command } from 'commander';
import { bashScript } from './completion/bash.js';
import { fishScript } from './completion/fish.js';
import { treeOf, type CompletedCommand } from './completion/tree.js';
import { zshScript } from './completion/zsh.js';
import { createProgram } from './program.js';

const SCRIPTS: Readonly<Record<string, (root: CompletedCommand) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `maitred completion`: a script that completes every command and option, made from the program itself. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell to load it').choices(Object.keys(SCRIPTS)))
    .action(async (shell: string) => {
      const root = treeOf(await createProgram(''));
      process.stdout.write(SCRIPTS[shell]?.(root) ?? '');
    });
}
