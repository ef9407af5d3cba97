import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { BINARY } from '../support/maitred.js';
import { ROOT } from '../support/tree.js';

/** What bash offers for the last word. */
function offered(...words: readonly string[]): string[] {
  const script = `. '${ROOT}deploy/bash/maitred'
    maitred() { '${process.execPath}' '${BINARY}' "$@"; }
    COMP_WORDS=(maitred "$@"); COMP_CWORD=$#
    _maitred maitred "\${!#}"; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  return stdout.split('\n').filter((word) => word !== '');
}

it.skipIf(spawnSync('bash', ['--version']).status !== 0)('completes commands and their options in bash', () => {
  expect(offered('e')).toEqual(['engines', 'end', 'engine']);
  expect(offered('serve', '--p')).toEqual(['--port', '--policy']);
  expect(offered('doctor', '--no')).toEqual(['--no-calls']);
  // Files are bash's own.
  expect(offered('serve', '--config', 'm')).toEqual([]);
});
