import { writeSync } from 'node:fs';
import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { untilStopped } from '../signals.js';
import { fitted, printable, widthOf, wrapped } from '../text.js';
import { legend, SORT_KEYS } from './columns.js';
import { frame, headLinesOf } from './frame.js';
import { faultIn, type Snapshot, type Wish } from './snapshot.js';

interface LiveOptions extends Pick<Wish, 'sort' | 'filter'> {
  readonly read: (wish: Wish) => Promise<Snapshot>;
  /** The words of `maitred why` about a program. */
  readonly why: (key: string) => Promise<string>;
  readonly url: string;
  readonly intervalMs: number;
  readonly input: ReadStream;
  /** Has a descriptor, unlike other streams. */
  readonly output: typeof process.stdout;
}

/** Lines for a terminal that wide. */
type Page = (columns: number) => string[];

/** The alternate screen, without a cursor, and without wrapping: a name of unforeseen width must not scroll it. */
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l';
const LEAVE = '\u001B[0m\u001B[?7h\u001B[?25h\u001B[?1049l';
/** Terminals that know them show what is between as one; others ignore them. */
const BEGIN = '\u001B[?2026h\u001B[H';
const END = '\u001B[?2026l';
/** Lines beside the head and the rows: the titles and the keys. */
const OTHER_LINES = 2;

/** The table on the whole terminal, until `q` or a signal. @throws AdminError if the first answer fails */
export async function showLive(options: LiveOptions): Promise<void> {
  // Before the screen changes: a wrong address or token is an error of usage.
  const { sort, filter, output } = options;
  await new Live(options, await options.read({ sort, filter, offset: 0, limit: heightOf(output) })).run();
}

class Live {
  readonly #ended: Promise<void>;
  #quit: () => void = () => undefined;
  #wish: Omit<Wish, 'limit'>;
  #fault: string | undefined;
  /** The chosen row, counted from the first of all. */
  #chosen = 0;
  /** Shown in place of the table. */
  #words: Page | undefined;
  /** The program of which `why` is asked, also while its answer is shown; undefined once a key is pressed. */
  #asked: string | undefined;
  #typed: string | undefined;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;
  /** Whether a read is under way, and whether another must follow it at once. */
  #isReading = false;
  #readAgain = false;

  constructor(
    private readonly options: LiveOptions,
    private snapshot: Snapshot,
  ) {
    this.#wish = { sort: options.sort, filter: options.filter, offset: 0 };
    this.#ended = new Promise((resolve) => (this.#quit = resolve));
  }

  async run(): Promise<void> {
    const { input, output } = this.options;
    emitKeypressEvents(input);
    input.on('keypress', this.#onKey).on('end', this.#quit).on('error', this.#quit);
    output.on('resize', this.#onChange);
    process.on('SIGCONT', this.#enter);
    // Before the error is printed, which the alternate screen would hide.
    process.on('uncaughtExceptionMonitor', this.#leave).on('exit', this.#leave);
    this.#enter();
    try {
      await Promise.race([this.#ended, untilStopped({ stop: () => Promise.resolve(), until: this.#ended })]);
    } finally {
      this.#quit();
      clearTimeout(this.#timer);
      this.#leave();
      input.off('keypress', this.#onKey).pause();
      output.off('resize', this.#onChange);
      process.off('SIGCONT', this.#enter).off('uncaughtExceptionMonitor', this.#leave).off('exit', this.#leave);
    }
  }

  /** At the start, and back from the background, where the shell has changed the terminal. */
  readonly #enter = (): void => {
    this.#isOpen = true;
    this.options.input.setRawMode(true).resume();
    this.options.output.write(ENTER);
    this.#onChange();
  };

  readonly #leave = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.options.input.setRawMode(false);
      // At once: the process may stop or exit before a stream would write it.
      writeSync(this.options.output.fd, LEAVE);
    } catch {
      // The terminal is gone.
    }
  };

  readonly #onKey = (text: string | undefined, { name = text, ctrl, shift }: Key): void => {
    this.#asked = undefined;
    if (ctrl === true && name === 'c') this.#quit();
    else if (ctrl === true && name === 'z') this.#suspend();
    else if (this.#typed !== undefined) this.#type(this.#typed, text, ctrl === true ? `ctrl-${name}` : name);
    else if (this.#words !== undefined || name === '?') this.#show(this.#words === undefined ? HELP : undefined);
    else if (name === 'q') this.#quit();
    else if (name === 's') this.#fromTop({ sort: `-${this.#column(shift === true ? -1 : 1)}` });
    else if (name === 'r')
      this.#fromTop({ sort: this.#wish.sort.startsWith('-') ? this.#column(0) : `-${this.#wish.sort}` });
    else if (name === '/') {
      this.#typed = this.#wish.filter;
      this.#draw();
    } else if (name === 'return' || name === 'w') void this.#explain();
    else this.#move(MOVES[name ?? '']);
  };

  /** The key of the column that many places after the one sorted by; the last is followed by the first. */
  #column(places: number): string {
    const at = SORT_KEYS.indexOf(this.#wish.sort.replace('-', '')) + places;
    return SORT_KEYS.at(at % SORT_KEYS.length) ?? '';
  }

  #fromTop(change: Partial<Wish>): void {
    this.#wish = { ...this.#wish, ...change, offset: 0 };
    this.#chosen = 0;
    void this.#read();
  }

  #show(words: Page | undefined): void {
    this.#words = words;
    this.#draw();
  }

  /** A key while the filter is typed. Enter takes it unless it has a fault. */
  #type(typed: string, text: string | undefined, name: string | undefined): void {
    this.#typed = name === 'escape' ? undefined : edited(typed, text, name);
    if (name === 'return' && faultIn(typed) === undefined) {
      this.#typed = undefined;
      this.#fromTop({ filter: typed });
    }
    this.#draw();
  }

  #move(to: ((row: number, rows: number) => number) | undefined): void {
    if (to === undefined) return;
    const { rows } = this.#layout;
    this.#chosen = Math.max(0, Math.min(this.snapshot.total - 1, to(this.#chosen, rows)));
    this.#draw();
    void this.#read();
  }

  /** The program that was asked of before, or else the chosen one. */
  async #explain(): Promise<void> {
    const { id, key = id } = this.snapshot.programs[this.#chosen - this.snapshot.offset] ?? {};
    const asked = (this.#asked ??= key);
    if (asked === undefined) return;
    const words = await this.options.why(asked).catch((error: unknown) => (error as Error).message);
    if (this.#asked === asked)
      this.#show((columns) => words.split('\n').flatMap((line) => wrapped(printable(line), columns)));
  }

  /** Stops the whole job, as Ctrl-Z does outside of raw mode. A job that no shell could continue goes on. */
  #suspend(): void {
    this.#leave();
    process.kill(0, 'SIGTSTP');
    setImmediate(this.#enter);
  }

  readonly #onChange = (): void => {
    this.#draw();
    void this.#read();
  };

  /** The words take lines from the rows. */
  get #layout() {
    const { output, url } = this.options;
    const [columns, height] = [output.columns || 80, heightOf(output)];
    const whole = { url, sort: this.#wish.sort, snapshot: this.snapshot, fault: this.#fault };
    const headLines = headLinesOf(whole, columns, height);
    const rows = Math.max(1, height - headLines - OTHER_LINES);
    const snapshot = { ...this.snapshot, programs: this.snapshot.programs.slice(0, rows) };
    return { columns, height, headLines, rows, scene: { ...whole, snapshot } };
  }

  #draw(): void {
    const { output } = this.options;
    // A slow terminal misses a frame.
    if (!this.#isOpen || output.writableNeedDrain) return;
    const { columns, height, scene, headLines } = this.#layout;
    const words = this.#words?.(columns);
    const lines = words?.map((line) => fitted(line, columns)) ?? frame(scene, columns, headLines);
    const looks: Readonly<Record<number, string>> =
      words === undefined
        ? { [headLines]: INVERSE, [headLines + 1 + this.#chosen - this.snapshot.offset]: CHOSEN }
        : {};
    const blank = Array.from({ length: Math.max(0, height - lines.length) }, () => ' '.repeat(columns));
    const shown = [...lines, ...blank]
      .slice(0, height - 1)
      .map((line, at) => (looks[at] === undefined ? line : `${looks[at]}${line}${PLAIN}`));
    const footer = fitted(this.#footer(columns), columns);
    output.write(BEGIN + [...shown, INVERSE + footer + PLAIN].join('\r\n') + END);
  }

  #footer(columns: number): string {
    if (this.#words !== undefined)
      return `any key: back to the table${this.#fault === undefined ? '' : `; no answer since ${this.snapshot.readAt}`}`;
    if (this.#typed === undefined) return columns < widthOf(KEYS_LINE) ? KEYS_LINE.replace('  ↑↓ row', '') : KEYS_LINE;
    return `filter: ${this.#typed}_  ${faultIn(this.#typed) ?? 'Enter takes it.'} Esc leaves it.`;
  }

  async #read(): Promise<void> {
    this.#readAgain = this.#isReading;
    if (this.#isReading) return;
    clearTimeout(this.#timer);
    this.#isReading = true;
    try {
      const { read, output } = this.options;
      // The chosen row stays in sight, also where the words take lines from the rows.
      const offset = Math.max(this.#chosen - this.#layout.rows + 1, Math.min(this.#wish.offset, this.#chosen));
      this.#wish = { ...this.#wish, offset };
      this.snapshot = await read({ ...this.#wish, limit: heightOf(output) });
      this.#fault = undefined;
      if (this.#asked !== undefined) await this.#explain();
      // The programs there have ended.
      if (this.#wish.offset > 0 && this.snapshot.programs.length === 0) this.#fromTop({});
    } catch (error) {
      this.#fault = (error as Error).message;
    }
    this.#isReading = false;
    this.#draw();
    if (this.#isOpen) this.#timer = setTimeout(() => void this.#read(), this.#readAgain ? 0 : this.options.intervalMs);
  }
}

/** A line after a key, as a shell would edit it. */
export function edited(line: string, text = '', key = ''): string {
  if (key === 'ctrl-u') return '';
  if (key === 'ctrl-w') return line.replace(/\S*\s*$/, '');
  return key === 'backspace' ? line.slice(0, -1) : line + printable(text.replace(/\p{Cc}/gu, ''));
}

const KEYS_LINE = 'q quit  ↑↓ row  Enter why  s S sort  r reverse  / filter  ? help';
/** Some terminals do not know their size. */
const heightOf = ({ rows }: LiveOptions['output']): number => Math.max(OTHER_LINES + 3, rows || 24);
const KEYS = [
  [
    'keys',
    'q quit, ↑ ↓ PgUp PgDn Home End choose a row, Enter or w why it waits, s S sort by the next or previous column, r reverse, / filter (Enter takes it, Esc leaves it, Ctrl-U clears it, Ctrl-W its last word), Ctrl-Z suspend',
  ],
  ['columns', 'a wider terminal shows more of them'],
] as const;
const HELP: Page = (columns) => legend(columns, KEYS);
const INVERSE = '\u001B[7m';
/** Bold and underlined. */
const CHOSEN = '\u001B[1;4m';
const PLAIN = '\u001B[0m';

const MOVES: Readonly<Record<string, (row: number, rows: number) => number>> = {
  up: (row) => row - 1,
  down: (row) => row + 1,
  pageup: (row, rows) => row - rows,
  pagedown: (row, rows) => row + rows,
  home: () => 0,
  end: () => Infinity,
};
