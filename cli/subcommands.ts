import type { Command } from 'commander';
import { didYouMean } from '../sidecar/config/index.js';

/** For a command that does something without a subcommand: refuses unknown ones, and its own options before a subcommand, which would ignore them. */
export function guardSubcommands(command: Command): void {
  command
    .allowExcessArguments()
    .hook('preAction', (_, acting) => {
      const [word] = acting.args;
      if (acting !== command || word === undefined) return;
      const known = command.commands.map((each) => each.name());
      command.error(`unknown command '${word}'${didYouMean(word, known) || `; ${command.name()} has ${known.join(', ')}, and options`}`); // prettier-ignore
    })
    .hook('preSubcommand', (_, sub) => {
      const misplaced = command.options.find(
        (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
      );
      if (misplaced !== undefined)
        command.error(`${misplaced.long ?? ''} stands before ${sub.name()}: it would be ignored; options of ${sub.name()} stand after it`); // prettier-ignore
    });
}
