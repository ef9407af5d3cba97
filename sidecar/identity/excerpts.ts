import type { TenantId } from '../../src/index.js';
import type { Ends, Seat } from './ends.js';
import { hashOf } from './growing.js';
import type { Line } from './lines.js';
import type { Told } from './marks.js';
import { SharedCache } from './shared-cache.js';

/** Texts remembered under one line, the latest ones. */
const PER_LINE = 64;
/** Most texts to compare in one message, and characters of them. */
const COMPARED_MAX = 128;
const COMPARED_CHARS_MAX = 524_288;

/** A text of a program, and where the line stands in it that leads to it. */
export interface Excerpt extends Seat, Told {
  readonly at: number;
}

/**
 * Texts that may come back whole inside a message. Each is found by one of its lines, and counts only if all of it is
 * there. At most `max` texts are remembered; the least recently used lines are dropped first.
 */
export class Excerpts<E extends Excerpt> {
  readonly #byLine: SharedCache<readonly E[]>;

  constructor(
    max: number,
    private readonly ends: Ends,
  ) {
    this.#byLine = new SharedCache(max, (excerpts) => excerpts.length);
  }

  /** @param line hash of the line that leads to the text, see `leadOf` */
  remember(tenant: TenantId, line: number, excerpt: E): void {
    const others = this.#byLine.get(tenant, line);
    const alive = others?.filter((other) => this.ends.isAlive(other)).slice(1 - PER_LINE);
    this.#byLine.set(tenant, line, alive ? [...alive, excerpt] : [excerpt]);
  }

  /** The texts in a message, without those within longer ones. @param lines its lines, see `linesIn` */
  in(tenant: TenantId, content: string, lines: readonly Line[]): E[] {
    const found = this.led(tenant, lines).filter(({ excerpt: { chars, hash }, start }) => {
      const end = start + chars;
      return start >= 0 && end <= content.length && hashOf(content, start, end) === hash;
    });
    return outer(found).map(({ excerpt }) => excerpt);
  }

  /** The texts to which lines of a message lead, with their beginnings there. */
  led(tenant: TenantId, lines: readonly Line[]): Led<E>[] {
    const led: Led<E>[] = [];
    const own = this.#byLine.of(tenant);
    if (own === undefined) return led;
    let chars = 0;
    for (const { at, hash } of lines)
      for (const excerpt of own.get(hash) ?? []) {
        if (!this.ends.isAlive(excerpt)) continue;
        if (led.length === COMPARED_MAX || (chars += excerpt.chars) > COMPARED_CHARS_MAX) return led;
        led.push({ excerpt, start: at - excerpt.at });
      }
    return led;
  }
}

interface Led<E> {
  readonly excerpt: E;
  readonly start: number;
}

const outer = <E extends Excerpt>(found: readonly Led<E>[]): readonly Led<E>[] =>
  found.filter(({ excerpt: { chars }, start }) =>
    found.every(
      (other) =>
        other.excerpt.chars <= chars || other.start > start || other.start + other.excerpt.chars < start + chars,
    ),
  );
