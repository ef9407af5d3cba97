import type { Command } from 'commander';
import { didYouMean } from '../sidecar/config/index.js';

/**
 * A command that does something itself, and has subcommands too. Any other word gets a suggestion, and its own options
 * may not stand before a subcommand, which would ignore them.
 * @param act runs the command itself
 */
export function besideSubcommands(command: Command, act: () => Promise<void>): void {
  command.argument('[command]').usage('[options] [command]').allowExcessArguments();
  const refuse = (word: string): never => command.error(`unknown command '${word}'${didYouMean(word, command.commands.map((each) => each.name()))}`); // prettier-ignore
  command.action(async (word: string | undefined) => {
    if (word !== undefined) refuse(word);
    await act();
  });
  // Options of a misspelt subcommand are unknown here, and would be reported instead of it.
  const parser = command as Command & { unknownOption: (flag: string) => void };
  const unknownOption = parser.unknownOption.bind(command);
  parser.unknownOption = (flag) => {
    const [word] = command.args;
    if (word !== undefined && !word.startsWith('-')) refuse(word);
    unknownOption(flag);
  };
  command.hook('preSubcommand', (_, sub) => {
    const misplaced = command.options.find((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
    if (misplaced !== undefined)
      command.error(`${misplaced.long ?? ''} stands before ${sub.name()}: it would be ignored; options of ${sub.name()} stand after it`); // prettier-ignore
  });
}
