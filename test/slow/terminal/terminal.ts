import { execFileSync, spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { folderOf } from '../../support/folder.js';

const WAIT_MS_MAX = 30_000;

/** Reason to skip tests that need a program; undefined: it is installed. */
export const lackOf = (program: string): string | undefined =>
  spawnSync(program, ['-V']).error === undefined ? undefined : `${program} is not installed`;

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A shell in a real terminal: tmux, with a server of its own. */
export class Terminal {
  readonly #socket: string;

  constructor({ columns = 80, rows = 24, env = {} }: TerminalOptions = {}) {
    this.#socket = `${folderOf({})}/tmux`;
    const shell = 'PS1="ready> " exec bash --norc --noprofile -i';
    const settings = Object.entries({ LANG: 'C.UTF-8', ...env }).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    this.#tmux(
      '-f',
      '/dev/null',
      '-u',
      'new-session',
      '-d',
      '-x',
      String(columns),
      '-y',
      String(rows),
      ...settings,
      shell,
    );
    onTestFinished(() => void spawnSync('tmux', ['-S', this.#socket, 'kill-server']));
  }

  /** Types a text, or presses keys by tmux's names. */
  type(text: string): void {
    this.#tmux('send-keys', '-l', text);
  }

  press(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  run(command: string): void {
    this.type(command);
    this.press('Enter');
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** The lines on the screen, without trailing spaces; with colours as escapes if asked. */
  screen(...flags: readonly '-e'[]): string[] {
    return this.#tmux('capture-pane', '-p', ...flags)
      .split('\n')
      .slice(0, -1);
  }

  /** Whether a full-screen program has the alternate screen, and whether the cursor shows. */
  get modes(): { readonly alternate: boolean; readonly cursor: boolean } {
    const [alternate, cursor] = this.#tmux('display-message', '-p', '#{alternate_on} #{cursor_flag}').trim().split(' ');
    return { alternate: alternate === '1', cursor: cursor === '1' };
  }

  /** The process that the shell runs in the foreground. */
  get pid(): number {
    const shell = this.#tmux('display-message', '-p', '#{pane_pid}').trim();
    return Number(execFileSync('ps', ['-o', 'pid=', '--ppid', shell], { encoding: 'utf8' }).trim());
  }

  /** The first screen that matches. @throws Error with the last screen */
  async shows(pattern: RegExp): Promise<string[]> {
    const until = performance.now() + WAIT_MS_MAX;
    for (;;) {
      const lines = this.screen();
      if (pattern.test(lines.join('\n'))) return lines;
      if (performance.now() > until) throw new Error(`${String(pattern)} is not on the screen:\n${lines.join('\n')}`);
      await delay(50);
    }
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' });
  }
}
