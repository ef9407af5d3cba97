import { createHash } from 'node:crypto';
import type { ProgramId } from '../../src/index.js';
import type { JsonObject } from '../apis/api.js';
import type { Engine } from '../engines/fleet.js';
import { tellEngine } from './tell-engine.js';

/** Sessions that wait to be closed by an engine's next call, the last to end; others end with their leases. */
const CLOSED_MAX = 1024;

/**
 * Programs as sessions of engines that evict contexts of no open session first. A program's session is open from its
 * first call on the engine until the gateway forgets the program. Other engines hear nothing of it.
 */
export class Sessions {
  readonly #engines = new Map<ProgramId, Set<Engine>>();
  readonly #closed = new WeakMap<Engine, Set<string>>();
  #closedTotal = 0;

  constructor(private readonly leaseMs: () => number) {}

  /** Sessions closed, over all engines. */
  get closedTotal(): number {
    return this.#closedTotal;
  }

  /** Body fields of a program's call, or of its warm, that begins on the engine now. */
  fields(engine: Engine, program: ProgramId, path: string): JsonObject {
    const { sessions } = engine.adapter;
    if (sessions === undefined || engine.config.sessions === false) return {};
    const closed = [...(this.#closed.get(engine) ?? [])];
    const fields = sessions.fields({ session: nameOf(program), path, leaseMs: this.leaseMs(), closed });
    if (Object.keys(fields).length === 0) return fields;
    this.#closed.delete(engine);
    const engines = this.#engines.get(program) ?? new Set();
    this.#engines.set(program, engines.add(engine));
    return fields;
  }

  /** The program is over. */
  close(program: ProgramId): void {
    const session = nameOf(program);
    for (const engine of this.#engines.get(program) ?? []) {
      const { sessions } = engine.adapter;
      // A server that came back without them has forgotten it.
      if (sessions === undefined) continue;
      this.#closedTotal += 1;
      if (sessions.close === undefined) this.#closeLater(engine, session);
      else tellEngine(engine, sessions.close(session));
    }
    this.forget(program);
  }

  /** Another gateway has the program now. */
  forget(program: ProgramId): void {
    this.#engines.delete(program);
  }

  #closeLater(engine: Engine, session: string): void {
    const closed = this.#closed.get(engine) ?? new Set();
    this.#closed.set(engine, closed.add(session));
    if (closed.size <= CLOSED_MAX) return;
    for (const oldest of closed) return void closed.delete(oldest);
  }
}

/** The same at every gateway, of one length, and without the client's own id. */
const nameOf = (program: ProgramId): string => createHash('sha256').update(program).digest('base64url').slice(0, 22);
