import { readText } from './tree.js';

/** A series of docs/METRICS.md. */
export interface DocumentedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** Names end in `_total` for counters alone; the list marks histograms. */
export function documentedMetrics(): DocumentedMetric[] {
  const listed = chapter('All series').matchAll(/`((?:maitred|process|nodejs)_\w+)(?:\{(.+?)\})?`( \(histogram\))?/g);
  return [...listed].map(([, name = '', labels = '', histogram]) => {
    const type = name.endsWith('_total') ? 'counter' : 'gauge';
    return { name, type: histogram === undefined ? type : 'histogram', labels: labels.split(', ').filter(Boolean) };
  });
}

/** The expressions that docs/METRICS.md tells, with the question that each answers. */
export const documentedExpressions = (): { readonly title: string; readonly expr: string }[] =>
  [...chapter('Expressions').matchAll(/^\| (.+?) +\| `(.+)` +\|$/gm)].map(([, title = '', expr = '']) => ({
    title,
    expr,
  }));

const chapter = (title: string): string =>
  readText('docs/METRICS.md')
    .split(/^## /m)
    .find((each) => each.startsWith(title)) ?? '';

/** Series of Prometheus itself, and the labels that it gives to all. */
const TARGET_SERIES = ['up'];
const TARGET_LABELS = ['job', 'instance'];
const WORDS = /^(?:and|or|unless|bool|offset|by|without|on|ignoring|group_left|group_right|inf|nan)$/i;

/** The series that an expression selects, each with the labels that it names there. */
export function selectorsOf(expression: string): { readonly name: string; readonly labels: readonly string[] }[] {
  const bare = withoutGroups(expression).replaceAll(/\[[^\]]*\]/g, '');
  return [...bare.matchAll(/([a-zA-Z_:][\w:]*)\s*(\(|\{[^}]*\})?/g)].flatMap(([, name = '', after = '']) =>
    after === '(' || WORDS.test(name) ? [] : [{ name, labels: matched(after) }],
  );
}

const matched = (braces: string): string[] =>
  [...braces.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label);

const GROUPS = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const withoutGroups = (expression: string): string => expression.replaceAll(GROUPS, ' ');

/** What in an expression is in no series that `metrics` describe: names and labels. */
export function unknownIn(expression: string, metrics: readonly DocumentedMetric[]): string[] {
  const selectors = selectorsOf(expression);
  const described = selectors.map(({ name }) => describing(name, metrics));
  const names = selectors.filter((_, i) => described[i] === undefined).map(({ name }) => name);
  const labels = selectors.flatMap(({ labels }, i) => labels.filter((label) => !described[i]?.includes(label)));
  const all = new Set(described.flat());
  const grouped = [...expression.matchAll(GROUPS)].flatMap(([, list = '']) => list.split(',').map((one) => one.trim()));
  return [...names, ...labels, ...grouped.filter((label) => label !== '' && !all.has(label))];
}

/** Labels of a series; undefined: there is no such series. */
function describing(name: string, metrics: readonly DocumentedMetric[]): readonly string[] | undefined {
  if (TARGET_SERIES.includes(name)) return TARGET_LABELS;
  const [, base = '', part] = /^(.+?)(_bucket|_sum|_count)?$/.exec(name) ?? [];
  const metric = metrics.find(({ name: own, type }) =>
    part === undefined || type !== 'histogram' ? own === name : own === base,
  );
  const histogram = metrics.find(({ name: own, type }) => type === 'histogram' && own === base && part !== undefined);
  const found = histogram ?? metric;
  if (found === undefined || (found.type === 'histogram' && part === undefined)) return undefined;
  return [...TARGET_LABELS, ...found.labels, ...(part === '_bucket' ? ['le'] : [])];
}
