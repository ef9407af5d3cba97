import { type SvgElement } from './svg-document.js';

/** A legend entry: a line with its dashes, or a filled box. */
export interface LegendEntry {
  readonly name: string;
  readonly stroke?: string;
  readonly dash?: string;
  readonly fill?: string;
}

const ROW = 18;
const SAMPLE = 20;
const GAP = 16;
/** Width of a character at 12 pixels, slightly above the mean, since there is no font to measure. */
const CHARACTER = 6.6;

const widthOf = ({ name }: LegendEntry): number => SAMPLE + 6 + name.length * CHARACTER + GAP;

/** Start of each entry, in rows that fill the available width. */
function places(entries: readonly LegendEntry[], room: number): { x: number; row: number }[] {
  let [x, row] = [0, 0];
  return entries.map((entry) => {
    if (x > 0 && x + widthOf(entry) - GAP > room) [x, row] = [0, row + 1];
    const place = { x, row };
    x += widthOf(entry);
    return place;
  });
}

export const legendHeight = (entries: readonly LegendEntry[], room: number): number =>
  ROW * ((places(entries, room).at(-1)?.row ?? -1) + 1);

/** Draws the legend into the picture, so that both stay together wherever the picture is shown. */
export function addLegend(
  svg: SvgElement,
  entries: readonly LegendEntry[],
  { left, top, width }: { readonly left: number; readonly top: number; readonly width: number },
): void {
  // prettier-ignore
  const add = (parent: SvgElement, name: string, attributes: Readonly<Record<string, string | number>>) => {
    const element = parent.appendChild(svg.ownerDocument.createElement(name));
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const group = add(svg, 'g', { 'aria-label': 'legend', 'text-anchor': 'start' });
  const at = places(entries, width);
  entries.forEach(({ name, stroke, dash, fill }, index) => {
    const { x, row } = at[index] ?? { x: 0, row: 0 };
    const entry = add(group, 'g', { transform: `translate(${left + x},${top + row * ROW})` });
    if (stroke !== undefined)
      add(entry, 'path', { d: `M0,8H${SAMPLE}`, stroke, 'stroke-width': 2, 'stroke-dasharray': dash ?? '' });
    if (fill !== undefined) add(entry, 'rect', { x: 4, y: 2, width: 12, height: 12, rx: 2, fill });
    add(entry, 'text', { x: SAMPLE + 6, y: 12 }).textContent = name;
  });
}
