import type { PolicySettings } from '../config.js';
import type { Call } from '../programs/call.js';
import { CompletionIndex } from '../programs/completion-index.js';
import type { Program } from '../programs/process-table.js';
import type { Work } from '../protocol/events.js';
import type { TenantId } from '../protocol/units.js';
import { Calibration } from './calibration.js';
import { Outlook } from './outlook.js';

/** Agent types and tenants remembered, the last used. An agent type takes about a kilobyte. */
const ENTRIES_MAX = 1024;

/**
 * Weight of the index's prior, in programs: next to nothing, since a type is used only once many have ended. The usual
 * prior expects ends within a millisecond, which a type of long programs never sees and never refutes.
 */
const PRIOR_PROGRAMS = 0.01;

type Settings = Pick<PolicySettings, 'foresight' | 'msPerPromptToken' | 'msPerOutputToken'>;

/**
 * Knowledge of what programs will do, from two sources: what clients declare, and what earlier programs of the same
 * agent type did (SAGA, 3.3). An agent type is a tenant's programs with the same instructions and tools.
 */
export class Foresight {
  readonly #types = new Recent<string, CompletionIndex>(() => new CompletionIndex(PRIOR_PROGRAMS));
  readonly #declarations = new Recent<TenantId, Calibration>(() => new Calibration());

  /** A call arrives, with the rest of its program as its client declares it. */
  arrived(call: Call, remaining: Work | undefined, settings: Settings): void {
    if (settings.foresight === 'none') return;
    const { program, family } = call;
    program.outlook ??= new Outlook(
      family && this.#types.get(`${family.id} ${program.tenant}`),
      this.#declarations.get(program.tenant),
    );
    if (remaining !== undefined) this.declared(program, remaining, settings);
    call.expectedTotalMs = program.outlook.totalMs(program.serviceMs) ?? 0;
  }

  /** The client declares the rest of a program. */
  declared({ outlook, serviceMs }: Program, { promptTokens, outputTokens }: Work, settings: Settings): void {
    if (settings.foresight !== 'declared') return;
    outlook?.declare(promptTokens * settings.msPerPromptToken + outputTokens * settings.msPerOutputToken, serviceMs);
  }
}

/** A map that makes missing values, and forgets the longest unused. */
class Recent<Key, Value> {
  readonly #values = new Map<Key, Value>();

  constructor(private readonly make: () => Value) {}

  get(key: Key): Value {
    const value = this.#values.get(key) ?? this.make();
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > ENTRIES_MAX) for (const oldest of this.#values.keys()) return this.#forget(oldest, value);
    return value;
  }

  #forget(oldest: Key, value: Value): Value {
    this.#values.delete(oldest);
    return value;
  }
}
