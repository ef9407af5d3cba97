import type { EndedProgram, Engine, History } from '../sidecar/admin/answers.js';

export const sortOf = ({ tab, sort }: Readonly<Record<'tab' | 'sort', string>>): string =>
  sort || (tab === 'ended' ? '-ended_at' : '-current_wait_seconds');

/** Ended programs by a field; with a minus sign, the greatest first. */
export function inOrder(rows: readonly EndedProgram[], sort: string): EndedProgram[] {
  const field = sort.replace('-', '') as 'ended_at';
  const sign = sort.startsWith('-') ? -1 : 1;
  return rows.toSorted((a, b) => sign * (a[field] - b[field]));
}

/** Calls in flight everywhere; use and bounds of the engines that take calls. Null: there is none, or one without a limit. */
export function sumsOf(engines: readonly Engine[]) {
  const each = engines.map((engine) => ({ ...engine, ...engine.all_gateways }));
  const all = each.filter(({ state }) => state === 'up' || state === 'probation');
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const most = (limits: readonly (number | null)[]) =>
    limits.length === 0 || limits.includes(null) ? null : sum(limits as number[]);
  const inFlight = sum(each.map(({ in_flight }) => in_flight));
  return {
    inFlight,
    away: inFlight - sum(all.map(({ in_flight }) => in_flight)),
    window: most(all.map(({ window }) => window)),
    workingSet: sum(all.map(({ working_set_tokens }) => working_set_tokens)),
    gate: most(all.map((engine) => engine.rest_tokens ?? engine.capacity_tokens)),
  };
}

/** Marks close to each other as one, from the first to the last: those of an engine that goes down again and again would hide the curves. */
export function together(marks: History['marks'], withinSeconds: number) {
  const groups: { readonly at: number; until: number; readonly texts: string[] }[] = [];
  for (const { at, text } of marks) {
    const last = groups.at(-1);
    if (last === undefined || at >= last.at + withinSeconds) groups.push({ at, until: at, texts: [text] });
    else {
      last.texts.push(text);
      last.until = at;
    }
  }
  return groups.map(({ texts, ...times }) => {
    const often = (text: string) => texts.filter((each) => each === text).length;
    return {
      ...times,
      text: [...new Set(texts)].map((text) => (often(text) > 1 ? `${text} (${often(text)} times)` : text)).join(', '),
    };
  });
}
