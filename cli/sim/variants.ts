import { type Axis, type Lists, type Values, valuesText } from './axes.js';
import type { Named, PrintedRun, SimDocument } from './document.js';
import { axesOf } from './plan.js';

/** The runs of a document that differ in their seed alone. */
export interface ShownVariant {
  /** In sentences. */
  readonly name: string;
  readonly values: Values;
  readonly runs: readonly PrintedRun[];
}

/** Settings that vary, with their values; policy and balancer in any case. */
export const listsOf = ({ settings }: SimDocument): Lists =>
  settings.varied ?? { policy: settings.policies, balancer: settings.balancers };

/** Settings that tell the variants of a document apart, in the order of a table's columns. */
export const shownAxes = (document: SimDocument): Axis[] => axesOf(listsOf(document));

export const valuesOf = ({ policy, balancer, settings }: Named): Values => settings ?? { policy, balancer };

/** Those that have runs. */
export function variantsOf(document: SimDocument): ShownVariant[] {
  const axes = shownAxes(document);
  const byName = new Map<string, PrintedRun[]>();
  for (const run of document.runs) {
    const name = valuesText(valuesOf(run), axes);
    byName.set(name, [...(byName.get(name) ?? []), run]);
  }
  return [...byName].map(([name, runs]) => ({ name, runs, values: runs[0] === undefined ? {} : valuesOf(runs[0]) }));
}

/** Labels of a table's rows, below those of their columns. */
export function labelsOf(document: SimDocument, rows: readonly Values[]): string[] {
  const axes = shownAxes(document);
  const cells = [axes, ...rows.map((values) => axes.map((axis) => String(values[axis] ?? '')))];
  if (document.settings.varied === undefined) return cells.map((row) => row.join(', '));
  const widths = axes.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}
