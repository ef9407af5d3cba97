/**
 * The part of a document that Plot needs: it creates elements, sets their attributes and nests them, and little else. A
 * full DOM would take ten times the code to serialise one tree.
 */
const SVG = 'http://www.w3.org/2000/svg';
const GEOMETRY = /^(d|transform|points|width|height|viewBox|r|[xy][12]?|[cdr][xy])$/;
/** Hundredths of a pixel exceed a screen's resolution, and would double the bytes. */
const LONG_FRACTION = /-?\d*\.\d{3,}(e[-+]?\d+)?/g;

export class SvgElement {
  readonly namespaceURI = SVG;
  readonly #attributes = new Map<string, string>();
  #children: (SvgElement | string)[] = [];

  constructor(
    readonly ownerDocument: SvgDocument,
    readonly tagName: string,
  ) {}

  setAttribute(name: string, value: string | number): void {
    const text = String(value);
    this.#attributes.set(name, GEOMETRY.test(name) ? text.replace(LONG_FRACTION, shorten) : text);
  }

  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }

  hasAttribute(name: string): boolean {
    return this.#attributes.has(name);
  }

  removeAttribute(name: string): void {
    this.#attributes.delete(name);
  }

  appendChild<Child extends SvgElement | string>(child: Child): Child {
    this.#children.push(child);
    return child;
  }

  prepend(...children: (SvgElement | string)[]): void {
    this.#children.unshift(...children);
  }

  insertBefore<Child extends SvgElement | string>(child: Child, before: SvgElement | null): Child {
    const at = before === null ? -1 : this.#children.indexOf(before);
    this.#children.splice(at < 0 ? this.#children.length : at, 0, child);
    return child;
  }

  set textContent(text: string) {
    this.#children = [text];
  }

  get children(): readonly SvgElement[] {
    return this.#children.filter((child) => typeof child !== 'string');
  }

  toString(): string {
    const attributes = [...this.#attributes].map(([name, value]) => ` ${name}="${escapeMarkup(value)}"`).join('');
    const children = this.#children.map((child) =>
      typeof child === 'string' ? escapeMarkup(child) : child.toString(),
    );
    return `<${this.tagName}${attributes}>${children.join('')}</${this.tagName}>`;
  }
}

export class SvgDocument {
  readonly documentElement = new SvgElement(this, 'html');

  createElementNS(_namespace: string, name: string): SvgElement {
    return new SvgElement(this, name);
  }

  createElement(name: string): SvgElement {
    return new SvgElement(this, name);
  }
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
// Control characters are not allowed in markup in any form.
const SPECIAL = /[&<>"\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

/** Text for HTML or SVG, between tags or inside double quotes. */
const escapeMarkup = (text: string): string => text.replace(SPECIAL, (character) => ENTITIES[character] ?? '\ufffd');

const shorten = (number: string): string => String(Math.round(Number(number) * 100) / 100);

/**
 * Colours of series, found by search under bounds that a test checks. On its background each has a contrast of at least
 * 3. Any two remain distinct under each of the three colour blindnesses.
 */
const LIGHT = {
  background: '#ffffff',
  text: '#1c2129',
  series: ['#086ac9', '#d36f0f', '#23a196', '#3806a4', '#655207', '#5f0e43'],
} as const;

const DARK = {
  background: '#12161c',
  text: '#e4e8ee',
  series: ['#5cb0f2', '#f48749', '#3fe8d0', '#9158fa', '#f7de4e', '#c74783'],
} as const;

export const SERIES_COLOURS = LIGHT.series.length;

/** After the last colour they repeat; charts distinguish such series by dashes and symbols too. */
export const seriesColour = (index: number): string => `var(--series-${(index % SERIES_COLOURS) + 1})`;

const variables = (palette: typeof LIGHT | typeof DARK): string =>
  [
    `--background:${palette.background}`,
    `--text:${palette.text}`,
    ...palette.series.map((value, index) => `--series-${index + 1}:${value}`),
  ].join(';');

/** CSS rules that apply the colours to `selector`, by the reader's preference. */
export const paletteStyle = (selector: string): string =>
  `${selector}{${variables(LIGHT)}}@media(prefers-color-scheme:dark){${selector}{${variables(DARK)}}}`;

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
