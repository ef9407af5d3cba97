import type { Command } from 'commander';

/** Refuses options of a command that stand before its subcommand, which would ignore them. */
export function refuseMisplaced(command: Command): void {
  command.hook('preSubcommand', (_, sub) => {
    const misplaced = command.options.find((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
    if (misplaced !== undefined)
      command.error(`${misplaced.long ?? ''} stands before ${sub.name()}: it would be ignored; options of ${sub.name()} stand after it`); // prettier-ignore
  });
}
