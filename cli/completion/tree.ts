import type { Command, Option } from 'commander';

/** What may stand in the place of a value. */
export type Value =
  | { readonly type: 'file' | 'folder' | 'variable' | 'free' }
  /** One of the words, or several with commas. */
  | { readonly type: 'choice'; readonly words: readonly string[]; readonly isList: boolean };

export interface CompletedOption {
  readonly short: string | undefined;
  readonly long: string;
  readonly description: string;
  /** Absent: a switch. */
  readonly value?: Value;
  /** The value may be left out. */
  readonly isOptional: boolean;
}

/** One command with all that can follow it. */
export interface CompletedCommand {
  /** Words from the program's name on, such as `maitred sim report`. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly commands: readonly CompletedCommand[];
  readonly options: readonly CompletedOption[];
  /** Absent: it takes no arguments but subcommands. */
  readonly argument?: Value;
}

/** The program as commander knows it. */
export function treeOf(command: Command, above = ''): CompletedCommand {
  const path = `${above} ${command.name()}`.trim();
  const [argument] = command.registeredArguments;
  const hasArgument = argument !== undefined && command.commands.length === 0;
  const help = { short: '-h', long: '--help', description: 'display help for command', isOptional: false };
  return {
    path,
    name: command.name(),
    description: command.description(),
    commands: command.commands.map((each) => treeOf(each, path)),
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionOf), help],
    ...(hasArgument && { argument: valueOf(argument.name(), argument.argChoices) }),
  };
}

/** A command and all below it. */
export const commandsIn = (command: CompletedCommand): CompletedCommand[] => [
  command,
  ...command.commands.flatMap(commandsIn),
];

function optionOf(option: Option): CompletedOption {
  const { short, long = '', description, required, optional } = option;
  // As in the help: the placeholder says what the value is, and its plural that there may be several.
  const placeholder = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? '';
  const value = required || optional ? valueOf(placeholder, option.argChoices) : undefined;
  return { short, long, description, isOptional: optional, ...(value && { value }) };
}

function valueOf(placeholder: string, words: readonly string[] | undefined): Value {
  if (words !== undefined) return { type: 'choice', words, isList: placeholder.endsWith('s') };
  const type = (['file', 'folder', 'variable'] as const).find((each) => placeholder.startsWith(each));
  return { type: type ?? 'free' };
}
