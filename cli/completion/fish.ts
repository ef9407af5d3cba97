import { commandsIn, type CompletedCommand, type CompletedOption, type Value } from './tree.js';

/** A completion script for fish. */
export function fishScript(root: CompletedCommand): string {
  const commands = commandsIn(root);
  const below = commands.flatMap(({ path, commands: each }) => each.map(({ name }) => `'${path}:${name}'`));
  const taking = commands.flatMap(({ path, options }) =>
    options.flatMap(
      ({ short, long, value, isOptional }) =>
      value === undefined || isOptional ? [] : [short, long].flatMap((flag) => (flag === undefined ? [] : [`'${path}:${flag}'`])), // prettier-ignore
    ),
  );
  return `# fish completion of maitred; load it with: maitred completion fish | source
function __maitred_at
  set -l path maitred
  set -l skipped 0
  for word in (commandline -opc)[2..-1]
    if test $skipped = 1
      set skipped 0
      continue
    end
    switch "$path:$word"
      case ${below.join(' ')}
        set path "$path $word"
      case ${taking.join(' ')}
        set skipped 1
    end
  end
  test "$path" = "$argv"
end
function __maitred_list
  # The last of several words with commas.
  set -l before (string replace -r '^--[^=]*=' '' -- (commandline -ct) | string replace -r '[^,]*$' '')
  printf '%s\\n' $before$argv
end
complete -c maitred -f
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, commands, options, argument }: CompletedCommand): string[] {
  const line = (rest: string) => `complete -c maitred -n '__maitred_at ${path}' ${rest}`;
  return [
    ...commands.map(({ name, description }) => line(`-a ${name} -d ${quoted(description)}`)),
    ...(argument === undefined ? [] : [line(valueOf(argument))]),
    ...options.map((option) => line(optionOf(option))),
  ];
}

function optionOf({ short, long, description, value, isOptional }: CompletedOption): string {
  const flags = `${short === undefined ? '' : `-s ${short.slice(1)} `}-l ${long.slice(2)}`;
  const taken = value === undefined ? '' : ` ${isOptional ? '' : '-r '}${valueOf(value)}`;
  return `${flags}${taken} -d ${quoted(description)}`;
}

function valueOf(value: Value): string {
  switch (value.type) {
    case 'choice':
      return `-f -a ${quoted(value.isList ? `(__maitred_list ${value.words.join(' ')})` : value.words.join(' '))}`;
    case 'file':
      return '-F';
    case 'folder':
      return `-f -a '(__fish_complete_directories (commandline -ct))'`;
    case 'variable':
      return `-f -a '(set -nx)'`;
    case 'free':
      return '-f';
  }
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
