import { commandsIn, type CompletedCommand, type CompletedOption, type Value } from './tree.js';

/** A completion script for zsh: sourced, or as a file `_maitred` in `fpath`. */
export function zshScript(root: CompletedCommand): string {
  const functions = commandsIn(root).map(functionOf).join('\n');
  return `#compdef maitred
# zsh completion of maitred; load it with: source <(maitred completion zsh)
${functions}
if [[ $funcstack[1] == _maitred ]]; then _maitred "$@"; else compdef _maitred maitred; fi
`;
}

const nameOf = (path: string): string => `_${path.replaceAll(' ', '__')}`;

function functionOf({ path, commands, options, argument }: CompletedCommand): string {
  const specs = options.map((option) => `    ${specOf(option)}`);
  if (argument !== undefined) specs.push(`    '*:argument:${actionOf(argument)}'`);
  if (commands.length === 0) return `${nameOf(path)}() {\n  _arguments \\\n${specs.join(' \\\n')}\n}`;
  const names = commands.map(({ name, description }) => `    ${quoted(`${name}:${description}`)}`);
  const cases = commands.map((each) => `      ${each.name}) ${nameOf(each.path)} ;;`);
  return `${nameOf(path)}() {
  local curcontext=$curcontext state line
  local -a commands=(
${names.join('\n')}
  )
  _arguments -C \\
${specs.join(' \\\n')} \\
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest) case $line[1] in
${cases.join('\n')}
    esac ;;
  esac
}`;
}

function specOf({ short, long, description, value, isOptional }: CompletedOption): string {
  const text = description.replaceAll(/[[\]\\:]/g, '\\$&');
  const action = value === undefined ? '' : `${isOptional ? '::' : ':'}value:${actionOf(value)}`;
  // `=`: the value may be a word of its own; `=-`, one that may be left out, only behind `=`.
  const spec = (flag: string) => {
    const sign = value === undefined ? '' : flag.startsWith('--') ? (isOptional ? '=-' : '=') : '+';
    return quoted(`*${flag}${sign}[${text}]${action}`);
  };
  return short === undefined ? spec(long) : `${spec(short)} ${spec(long)}`;
}

function actionOf(value: Value): string {
  switch (value.type) {
    case 'choice':
      return value.isList ? ` _sequence compadd - ${value.words.join(' ')}` : `(${value.words.join(' ')})`;
    case 'file':
      return '_files';
    case 'folder':
      return '_files -/';
    case 'variable':
      return '_parameters -g "*export*"';
    case 'free':
      return ' ';
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\\\''")}'`;
