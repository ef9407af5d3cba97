import { computed, signal } from '@preact/signals';
import type * as Answers from '../sidecar/admin/answers.js';
import { clock } from './format.js';
import { sortOf } from './select.js';

/** All state of the page. The stream writes the sections, the URL the view; components only read them. */

/** Version of the admin API that this page reads. */
export const API: Answers.GatewayState['api'] = 3;

export const gateway = signal<Answers.GatewayState>();
export const engines = signal<Answers.EngineList>();
export const queue = signal<Answers.Queue>();
export const totals = signal<Answers.TotalsAnswer>();
export const history = signal<Answers.History>();
export const programs = signal<Answers.ProgramPage>();
export const groups = signal<Answers.ProgramGroups>();
/** Null: the program has left the table. */
export const program = signal<Answers.ProgramDetail | null>();
/** Without words, no such program is known. */
export const explain = signal<Omit<Answers.Explanation, 'program'>>();
export const calls = signal<Answers.PastCallList>();
export const ended = signal<Answers.EndedPrograms>();

/** The sections of `GET /stream`, by the names of their events. */
export const SECTIONS = { gateway, engines, queue, totals, history, programs, groups, program, explain, calls, ended };

export type Connection =
  | { readonly state: 'connecting' | 'live' }
  | { readonly state: 'reconnecting'; readonly since: number }
  | { readonly state: 'locked'; readonly wrongToken: boolean }
  | { readonly state: 'refused'; readonly message: string };

export const connection = signal<Connection>({ state: 'connecting' });
/** Why the gateway tells nothing now; undefined: it does, or is about to. */
export const troubleOf = (now: Connection): string | undefined =>
  now.state === 'refused' ? now.message : now.state === 'reconnecting' ? lost(now.since) : undefined;
const lost = (since: number) =>
  since === 0 ? 'The gateway cannot be reached.' : `No answer from the gateway since ${clock(since)}: is it running?`;
/** A sentence for screen readers and the status line: changes of state only, never figures. */
export const announcement = signal('');

const DEFAULTS = {
  /** Rows of the table: '' for the programs that are there, `ended`, or groups by this name. */
  tab: '',
  /** '' for the order of the tab. */
  sort: '',
  tenant: '',
  model: '',
  agent_type: '',
  identified_by: '',
  engine: '',
  state: '',
  text: '',
  /** Part of the table, from 0 on; '' for the first. */
  page: '',
  /** Key of the program that is shown; '' for the overview. */
  program: '',
  /** Of the history; '' for the shortest. */
  range: '',
};

/** Choices of the viewer, kept in the URL. */
export type View = Readonly<typeof DEFAULTS>;

function readUrl(): View {
  const search = new URLSearchParams(location.search);
  return Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, fallback]) => [name, search.get(name) ?? fallback]),
  ) as unknown as View;
}

export const view = signal<View>(readUrl());

export function urlOf(change: Partial<View>): string {
  const wanted = { ...view.peek(), ...change };
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted))
    if (value !== DEFAULTS[name as keyof View]) search.set(name, value);
  return `${location.pathname}${search.size > 0 ? `?${search}` : ''}`;
}

/** Changes the view. Another program is a step in the browser's history; a filter is none. */
export function show(change: Partial<View>): void {
  const isStep = change.program !== undefined && change.program !== view.peek().program;
  window.history[isStep ? 'pushState' : 'replaceState'](null, '', urlOf(change));
  look({ ...view.peek(), ...change }, isStep);
}

/** @param isStep whether another program is shown than before */
function look(next: View, isStep: boolean): void {
  if (isStep) program.value = explain.value = calls.value = undefined;
  view.value = next;
}

/** Follows a link inside the page; with a modifier key the browser opens it elsewhere. */
export function go(event: MouseEvent, change: Partial<View>): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  show(change);
}

addEventListener('popstate', () => look(readUrl(), true));

/** Most rows of the table at a time. */
export const PAGE_ROWS = 100;

/** From 0; a damaged address shows the first. */
export const pageNumber = computed(() => (/^\d{1,6}$/.test(view.value.page) ? Number(view.value.page) : 0));

/** Names by which programs are grouped. */
export const GROUPED_BY: Readonly<Record<string, string>> = {
  tenant: 'Tenant',
  model: 'Model',
  agent_type: 'Type',
  identified_by: 'Source of id',
};
export const groupedBy = computed(() => (Object.hasOwn(GROUPED_BY, view.value.tab) ? view.value.tab : ''));

export const streamQuery = computed(() => {
  const { tab, program: shown, range, ...selection } = view.value;
  const isList = shown === '' && tab !== 'ended';
  const by = groupedBy.value;
  // Ended programs have no state, and the page sorts them.
  const chosen = isList ? { by, sort: by === '' ? sortOf(view.value) : '' } : { state: '', sort: '' };
  const asked = { program: shown, range, ...(shown === '' && { ...selection, ...chosen }) };
  const search = new URLSearchParams(Object.entries(asked).filter(([name, value]) => name !== 'page' && value !== ''));
  if (tab === 'ended') search.set('ended', '');
  search.set('offset', String(isList ? PAGE_ROWS * pageNumber.value : 0));
  search.set('limit', String(isList ? PAGE_ROWS : 1));
  return search.toString();
});
