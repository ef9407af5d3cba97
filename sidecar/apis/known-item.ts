import type { JsonObject } from './api.js';

/** Facts of a conversation's item that are known without parsing it. */
export interface Outline {
  readonly role: unknown;
  readonly type: unknown;
  /** As `promptBytes` counts them. */
  readonly promptBytes: number;
  /** Its place in the bytes of its body. */
  readonly start: number;
  readonly end: number;
}

/**
 * An item of a conversation that an earlier body began with too. It stands for its parsed object, and is parsed only if
 * its content is needed.
 */
export class KnownItem {
  readonly [field: string]: unknown;
  readonly role: unknown;
  readonly type: unknown;

  constructor(
    readonly outline: Outline,
    private readonly raw: Buffer,
  ) {
    // Not getters: a loop over known and new messages alike would call each.
    this.role = outline.role;
    this.type = outline.type;
  }

  toJSON(): JsonObject {
    return JSON.parse(this.raw.toString('utf8', this.outline.start, this.outline.end)) as JsonObject;
  }
}

/** The item with its content. */
export const whole = (item: JsonObject): JsonObject => (item instanceof KnownItem ? item.toJSON() : item);
