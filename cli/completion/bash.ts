import { commandsIn, type CompletedCommand, type CompletedOption, type Value } from './tree.js';

/** A completion script for bash 3.2 and later. */
export function bashScript(root: CompletedCommand): string {
  const commands = commandsIn(root);
  const subcommands = commands.flatMap(({ path, commands: below }) => below.map(({ name }) => `"${path}:${name}"`));
  const valued = (path: string, options: readonly CompletedOption[]) =>
    options.flatMap((option) => (option.value && !option.isOptional ? patterns(path, option) : []));
  const taking = commands.flatMap(({ path, options }) => valued(path, options));
  return `# bash completion of maitred; load it with: source <(maitred completion bash)
_maitred() {
  local IFS=$' \\t\\n' cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path=maitred words= i
  # bash splits --option=value in three.
  if [[ $cur == "=" ]]; then cur=
  elif [[ $prev == "=" ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path:\${COMP_WORDS[i]}" in
      ${subcommands.join('|')}) path="$path \${COMP_WORDS[i]}" ;;
      ${taking.join('|')})
        i=$((i + 1))
        if [[ \${COMP_WORDS[i]} == "=" ]]; then i=$((i + 1)); fi ;;
    esac
  done
  case "$path:$prev" in
${commands.flatMap(({ path, options }) => options.map((option) => valueCase(path, option))).join('')}  esac
  case "$path" in
${commands.map(commandCase).join('')}  esac
}
_maitred_words() {
  # The last of several words with commas.
  local last=\${2##*,}
  COMPREPLY=($(compgen -P "\${2%"$last"}" -W "$1" -- "$last"))
}
_maitred_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$2"))
}
complete -F _maitred maitred
`;
}

const patterns = (path: string, { short, long }: CompletedOption): string[] =>
  [short, long].flatMap((flag) => (flag === undefined ? [] : [`"${path}:${flag}"`]));

function valueCase(path: string, option: CompletedOption): string {
  if (option.value === undefined || (option.isOptional && option.value.type === 'free')) return '';
  // A value that may be left out may also be followed by the next option.
  const test = option.isOptional ? 'if [[ $cur != -* ]]; then ' : '';
  return `    ${patterns(path, option).join('|')}) ${test}${completed(option.value)} return${test === '' ? '' : '; fi'} ;;\n`;
}

function commandCase({ path, commands, options, argument }: CompletedCommand): string {
  const flags = options.flatMap(({ short, long }) => (short === undefined ? [long] : [short, long])).join(' ');
  const other = argument === undefined ? `_maitred_words "${commands.map(({ name }) => name).join(' ')}" "$cur";` : completed(argument); // prettier-ignore
  return `    "${path}") if [[ $cur == -* ]]; then _maitred_words "${flags}" "$cur"; else ${other} fi ;;\n`;
}

function completed(value: Value): string {
  switch (value.type) {
    case 'choice':
      return `_maitred_words "${value.words.join(' ')}" "$cur";`;
    case 'file':
      return '_maitred_files -f "$cur";';
    case 'folder':
      return '_maitred_files -d "$cur";';
    case 'variable':
      return 'COMPREPLY=($(compgen -e -- "$cur"));';
    case 'free':
      return 'COMPREPLY=();';
  }
}
