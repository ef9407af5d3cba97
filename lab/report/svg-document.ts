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

  setAttributeNS(_namespace: string, name: string, value: string | number): void {
    this.setAttribute(name, value);
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

  append(...children: (SvgElement | string)[]): void {
    this.#children.push(...children);
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

  /** Drawing never looks up earlier elements. */
  querySelector(): null {
    return null;
  }

  querySelectorAll(): readonly SvgElement[] {
    return [];
  }

  /** The element as text. Same calls, same bytes. */
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

  /** A text node is represented by its string. */
  createTextNode(text: string): string {
    return text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
// Control characters are not allowed in markup in any form.
const SPECIAL = /[&<>"\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

/** Text for HTML or SVG, between tags or inside double quotes. */
export function escapeMarkup(text: string): string {
  return text.replace(SPECIAL, (character) => ENTITIES[character] ?? '\ufffd');
}

function shorten(number: string): string {
  return String(Math.round(Number(number) * 100) / 100);
}
