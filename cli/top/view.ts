import { SORT_KEYS } from './columns.js';
import { printable } from '../text.js';
import type { Wish } from './poll.js';
import type { ProgramRow } from './wire.js';

/** What the user has chosen to see. */
export interface View {
  readonly screen: 'table' | 'program' | 'help';
  readonly sort: string;
  readonly descending: boolean;
  readonly filter: string;
  /** Text of the filter while it is typed, and the filter before that. */
  readonly typing: { readonly before: string } | undefined;
  /** Program to end, once confirmed. */
  readonly ending: ProgramRow | undefined;
  /** Key of the selected program; undefined: the row at `index`. */
  readonly selected: string | undefined;
  readonly index: number;
  /** Lines of the program's or the help's screen above its top. */
  readonly scroll: number;
  readonly frozen: boolean;
  readonly notice: string;
}

/** A key press: its name as readline has it, and the text that it types. */
export interface Key {
  readonly name: string;
  readonly text: string;
}

export type Action =
  { readonly type: 'quit' | 'suspend' | 'read' } | { readonly type: 'end'; readonly program: ProgramRow };

export interface Pressed {
  readonly view: View;
  readonly action?: Action;
}

/** Rows read by default, and while the selection needs more. */
const ROWS = 100;
export const ROWS_MAX = 1000;

export function makeView(sort: string, filter: string): View {
  const descending = sort.startsWith('-');
  return {
    screen: 'table',
    sort: descending ? sort.slice(1) : sort,
    descending,
    filter,
    typing: undefined,
    ending: undefined,
    selected: undefined,
    index: 0,
    scroll: 0,
    frozen: false,
    notice: '',
  };
}

export function wishOf(view: View): Wish {
  return {
    sort: view.descending ? `-${view.sort}` : view.sort,
    // Half a word would find nothing.
    choice: choiceOf(view.typing?.before ?? view.filter),
    limit: view.index >= ROWS / 2 ? ROWS_MAX : ROWS,
    open: view.screen === 'program' ? view.selected : undefined,
  };
}

const CHOICE = /^(?:(tenant|engine):(.+)|(state):(waiting|running|idle))$/;

/** Parameters of `GET /programs`: `tenant:NAME`, `engine:ID`, `state:STATE`; other words are looked for in names. */
function choiceOf(filter: string): Record<string, string> {
  const choice: Record<string, string> = {};
  const words: string[] = [];
  for (const word of filter.split(/\s+/)) {
    const [, name, value, state, which] = CHOICE.exec(word) ?? [];
    if (name !== undefined) choice[name] = value ?? '';
    else if (state !== undefined) choice[state] = which ?? '';
    else if (word !== '') words.push(word);
  }
  return words.length === 0 ? choice : { ...choice, text: words.join(' ') };
}

/** Index of the selected row: of the selected program while it is there, else the same place. */
export function indexOf(rows: readonly ProgramRow[], { selected, index }: View): number {
  const at = rows.findIndex(({ key }) => key === selected);
  return at >= 0 ? at : Math.max(0, Math.min(index, rows.length - 1));
}

/** What a key does. `page` is the number of rows on the screen. */
export function press(view: View, key: Key, rows: readonly ProgramRow[], page: number): Pressed {
  if (key.name === 'ctrl-c') return { view, action: { type: 'quit' } };
  if (key.name === 'ctrl-z') return { view, action: { type: 'suspend' } };
  const calm = { ...view, notice: '' };
  if (view.typing !== undefined) return pressTyping(calm, key, view.typing.before);
  if (view.ending !== undefined) return pressEnding(calm, key, view.ending);
  return view.screen === 'table' ? pressTable(calm, key, rows, page) : pressPage(calm, key, page);
}

function pressTyping(view: View, { name, text }: Key, before: string): Pressed {
  if (name === 'return' || name === 'enter') return { view: { ...view, typing: undefined }, action: { type: 'read' } };
  if (name === 'escape') return { view: { ...view, typing: undefined, filter: before }, action: { type: 'read' } };
  if (name === 'ctrl-u') return { view: { ...view, filter: '' } };
  if (name === 'backspace') return { view: { ...view, filter: Array.from(view.filter).slice(0, -1).join('') } };
  return { view: { ...view, filter: view.filter + (/\p{C}/u.test(text) ? '' : printable(text)) } };
}

function pressEnding(view: View, { name }: Key, program: ProgramRow): Pressed {
  const answered = { ...view, ending: undefined };
  return name === 'y' ? { view: answered, action: { type: 'end', program } } : { view: { ...answered, notice: 'Not ended.' } }; // prettier-ignore
}

/** The screens of one program and of the help. */
function pressPage(view: View, { name }: Key, page: number): Pressed {
  const scrolled = (by: number): Pressed => ({ view: { ...view, scroll: Math.max(0, view.scroll + by) } });
  const back: Pressed = { view: { ...view, screen: 'table', scroll: 0 } };
  switch (name) {
    case 'up':
      return scrolled(-1);
    case 'down':
      return scrolled(1);
    case 'pageup':
      return scrolled(-page);
    case 'pagedown':
      return scrolled(page);
    case 'home':
      return scrolled(-Infinity);
    case 'space':
    case 'f':
      return freeze(view);
    case 'q':
    case 'escape':
    case 'return':
    case 'backspace':
      return back;
    case 'h':
    case '?':
    case 'f1':
      return view.screen === 'help' ? back : { view };
    default:
      return { view };
  }
}

function pressTable(view: View, { name }: Key, rows: readonly ProgramRow[], page: number): Pressed {
  const at = indexOf(rows, view);
  const move = MOVES[name];
  if (move !== undefined) {
    const index = Math.max(0, Math.min(rows.length - 1, move(at, page)));
    return { view: { ...view, index, selected: rows[index]?.key } };
  }
  const row = rows[at];
  switch (name) {
    case 'left':
    case '<':
      return sortBy(view, -1);
    case 'right':
    case '>':
      return sortBy(view, 1);
    case 'r':
      return { view: { ...view, descending: !view.descending }, action: { type: 'read' } };
    case '/':
      return { view: { ...view, typing: { before: view.filter } } };
    case 'escape':
      return { view: { ...view, filter: '' }, action: { type: 'read' } };
    case 'space':
    case 'f':
      return freeze(view);
    case 'k':
    case 'f9':
      return row === undefined ? { view } : { view: { ...view, index: at, selected: row.key, ending: row } };
    case 'return':
      return row === undefined
        ? { view }
        : { view: { ...view, index: at, selected: row.key, screen: 'program' }, action: { type: 'read' } };
    case 'h':
    case '?':
    case 'f1':
      return { view: { ...view, screen: 'help' } };
    case 'q':
      return { view, action: { type: 'quit' } };
    default:
      return { view };
  }
}

const MOVES: Readonly<Record<string, (at: number, page: number) => number>> = {
  up: (at) => at - 1,
  down: (at) => at + 1,
  pageup: (at, page) => at - page,
  pagedown: (at, page) => at + page,
  home: () => 0,
  end: () => Infinity,
};

function sortBy(view: View, step: number): Pressed {
  const next = (SORT_KEYS.indexOf(view.sort) + step + SORT_KEYS.length) % SORT_KEYS.length;
  return { view: { ...view, sort: SORT_KEYS[next] ?? view.sort }, action: { type: 'read' } };
}

function freeze(view: View): Pressed {
  const next = { ...view, frozen: !view.frozen };
  return next.frozen ? { view: next } : { view: next, action: { type: 'read' } };
}
