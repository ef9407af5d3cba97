import type { GatewayId, Taken } from '../../cluster/index.js';
import type { ProgramId, ProgramRecord } from '../../src/index.js';

interface Entry {
  owner: GatewayId;
  record: ProgramRecord | undefined;
}

/**
 * Which gateway runs each program's calls, and its last record. A gateway that owns a program asks nobody; another
 * one takes it over with its first call.
 */
export class Directory {
  readonly #entries = new Map<ProgramId, Entry>();

  constructor(private readonly programsMax: number) {}

  take(program: ProgramId, gateway: GatewayId): Taken {
    const entry = this.#entries.get(program);
    const from = entry?.owner;
    this.#set(program, { owner: gateway, record: entry?.record });
    return { record: entry?.record, from: from === gateway ? undefined : from };
  }

  /**
   * Joins the gateway's record. The owner's own contexts and home replace others'.
   * @returns whether the gateway owns the program; another one must hear that it does not
   */
  put(program: ProgramId, gateway: GatewayId, record: ProgramRecord): boolean {
    const entry = this.#entries.get(program) ?? { owner: gateway, record: undefined };
    const known = entry.record;
    const serviceMs = known === undefined || known.serviceMs < record.serviceMs ? record.serviceMs : known.serviceMs;
    const calls = Math.max(known?.calls ?? 0, record.calls);
    const place = known === undefined || entry.owner === gateway ? record : known;
    this.#set(program, { owner: entry.owner, record: { ...place, serviceMs, calls } });
    return entry.owner === gateway;
  }

  /** Changes nothing if another gateway owns the program by now. */
  forget(program: ProgramId, gateway: GatewayId): void {
    if (this.#entries.get(program)?.owner === gateway) this.#entries.delete(program);
  }

  #set(program: ProgramId, entry: Entry): void {
    this.#entries.delete(program);
    this.#entries.set(program, entry);
    if (this.#entries.size <= this.programsMax) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
