import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { fileOf, folderOf } from '../../support/folder.js';
import { BINARY } from '../../support/maitred.js';
import { lackOf } from './terminal.js';

const scriptFor = (shell: string) => fileOf(`maitred.${shell}`, execFileSync(process.execPath, [BINARY, 'completion', shell])); // prettier-ignore

/** What a shell offers for a command line, or completes its last word to if there is one offer. */
const COMPLETE: Readonly<Record<string, (script: string, line: string, folder: string) => string[]>> = {
  bash: (script, line, cwd) => {
    // Words as bash splits them, with = apart.
    const words = line.split(/ |(?<==)|(?==)/).map((word) => `'${word}'`).join(' '); // prettier-ignore
    const text = `source ${script}; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _maitred; printf '%s\\n' "\${COMPREPLY[@]}"`; // prettier-ignore
    return linesOf(execFileSync('bash', ['--norc', '-c', text], { cwd, encoding: 'utf8' }));
  },
  fish: (script, line, cwd) => {
    const env = { ...process.env, HOME: cwd };
    const text = `source ${script}; complete -C '${line}'`;
    return linesOf(execFileSync('fish', ['--no-config', '-c', text], { cwd, encoding: 'utf8', env })).map((each) => each.split('\t')[0] ?? ''); // prettier-ignore
  },
  zsh: (script, line, cwd) => {
    const commands = `zmodload zsh/zpty; zpty z zsh -f -i
zpty -w z "bindkey -e; unsetopt beep; PROMPT=; cd ${cwd}; autoload -U compinit; compinit -u -D; source ${script}; echo REA''DY"
zpty -r -m z out '*READY*'
zpty -w -n z ${JSON.stringify(line)}$'\\t'; zpty -w -n z $'\\C-a: \\n'; zpty -w z "echo DO''NE"
zpty -r -m z out '*DONE*'; print -r -- "$out"`;
    const out = execFileSync('zsh', ['-f', '-c', commands], {
      encoding: 'utf8',
      env: { ...process.env, TERM: 'dumb' },
    });
    // Without the bell of an ambiguous completion.
    return out.replaceAll('\u0007', '').split(/[\s=]+/);
  },
};

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

describe.each(['bash', 'zsh', 'fish'])('completion in %s', (shell) => {
  it.skipIf(lackOf(shell) !== undefined)('offers commands, options, choices and files', () => {
    const folder = folderOf({ 'recording.jsonl': '' });
    const script = scriptFor(shell);
    const offers = (line: string) => COMPLETE[shell]!(script, line, folder);
    expect(offers('maitred ser')).toContain('serve');
    expect(offers('maitred serve --pol')).toContain('--policy');
    expect(offers('maitred sim calib')).toContain('calibrate');
    expect(offers('maitred serve --policy pl')).toContain('plas');
    expect(offers('maitred serve --policy=pl').join()).toContain('plas');
    expect(offers('maitred sim --policy pass-through,pl').join(' ')).toContain('pass-through,plas');
    expect(offers('maitred trace show recor')).toContain('recording.jsonl');
    expect(offers('maitred load --trace recor')).toContain('recording.jsonl');
    // An option's value that is named as a command is none.
    expect(offers('maitred sim --workload calibrate --bal')).toContain('--balancer');
    expect(offers('maitred completion z')).toContain('zsh');
  });
});
