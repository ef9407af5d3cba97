import { writeSync } from 'node:fs';
import { emitKeypressEvents, type Key as ReadlineKey } from 'node:readline';
import type { ReadStream } from 'node:tty';
import type { Size } from './frame.js';
import { painted, type Line } from './line.js';
import type { Key } from './view.js';

/** Standard output, which has a descriptor. */
export type Output = typeof process.stdout;

/** The alternate screen, without a cursor, and without wrapping: a name of unforeseen width must not scroll it. */
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J';
const LEAVE = '\u001B[0m\u001B[?7h\u001B[?25h\u001B[?1049l';
/** Terminals that know them show what is between as one; others ignore them. */
const BEGIN = '\u001B[?2026h';
const END = '\u001B[?2026l';

export interface ScreenListener {
  readonly onKey: (key: Key) => void;
  /** The frame must be shown anew: another size, or back from the background. */
  readonly onChange: () => void;
  /** The terminal is gone. */
  readonly onGone: () => void;
}

/** A terminal in full-screen use. It is restored on `close`, and however else the process exits. */
export class Screen {
  readonly #in: ReadStream;
  readonly #out: Output;
  readonly #listener: ScreenListener;
  readonly #hasColours: boolean;
  #shown: readonly string[] = [];
  #isOpen = false;

  constructor(input: ReadStream, out: Output, listener: ScreenListener) {
    this.#in = input;
    this.#out = out;
    this.#listener = listener;
    this.#hasColours = out.hasColors();
    emitKeypressEvents(input);
    input.on('keypress', this.#onKey);
    input.on('end', listener.onGone).on('error', listener.onGone);
    out.on('resize', this.#onResize).on('drain', listener.onChange);
    process.on('SIGTSTP', this.#onStop).on('SIGCONT', this.#onContinue);
    // Before the error is printed, which the alternate screen would hide.
    process.on('uncaughtExceptionMonitor', this.#onExit).on('exit', this.#onExit);
    this.#enter();
    input.resume();
  }

  get size(): Size {
    // Some terminals do not know theirs.
    return { columns: this.#out.columns || 80, rows: this.#out.rows || 24 };
  }

  /** Writes the lines that differ from those shown before; skips a frame if the terminal is slow to take the last. */
  show(lines: readonly Line[]): void {
    if (!this.#isOpen || this.#out.writableNeedDrain) return;
    const { columns } = this.size;
    const next = lines.map((line) => painted(line, columns, this.#hasColours));
    const changed = next.flatMap((text, at) => (text === this.#shown[at] ? [] : [`\u001B[${at + 1};1H${text}`]));
    this.#shown = next;
    if (changed.length > 0) this.#out.write(BEGIN + changed.join('') + END);
  }

  /** Stops the whole job, as Ctrl-Z does outside of raw mode. */
  suspend(): void {
    process.kill(0, 'SIGTSTP');
  }

  close(): void {
    this.#leave();
    this.#in.off('keypress', this.#onKey);
    this.#in.pause();
    this.#out.off('resize', this.#onResize).off('drain', this.#listener.onChange);
    process.off('SIGTSTP', this.#onStop).off('SIGCONT', this.#onContinue);
    process.off('uncaughtExceptionMonitor', this.#onExit).off('exit', this.#onExit);
  }

  #enter(): void {
    this.#in.setRawMode(true);
    this.#isOpen = true;
    this.#shown = [];
    this.#out.write(ENTER);
  }

  #leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.#in.setRawMode(false);
      // At once: the process may stop or exit before a stream would write it.
      writeSync(this.#out.fd, LEAVE);
    } catch {
      // The terminal is gone.
    }
  }

  readonly #onKey = (text: string | undefined, { name, ctrl, meta }: ReadlineKey): void => {
    if (meta === true && name !== 'escape') return;
    const typed = ctrl === true ? '' : (text ?? '');
    const named = name ?? typed;
    if (named !== '') this.#listener.onKey({ name: ctrl === true ? `ctrl-${named}` : named, text: typed });
  };

  readonly #onResize = (): void => {
    this.#shown = [];
    if (this.#isOpen) this.#out.write('\u001B[2J');
    this.#listener.onChange();
  };

  /** Stops by the signal's own action, which the system skips for a job that no shell could continue. */
  readonly #onStop = (): void => {
    this.#leave();
    process.off('SIGTSTP', this.#onStop);
    process.kill(process.pid, 'SIGTSTP');
    setImmediate(() => {
      process.on('SIGTSTP', this.#onStop);
      this.#onContinue();
    });
  };

  readonly #onContinue = (): void => {
    if (!this.#isOpen) this.#enter();
    this.#shown = [];
    this.#listener.onChange();
  };

  readonly #onExit = (): void => this.#leave();
}
