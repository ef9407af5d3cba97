import { ContextGrowth } from '../kv/context-growth.js';
import type { Family } from '../protocol/events.js';
import type { TenantId } from '../protocol/units.js';
import { CompletionIndex } from './completion-index.js';
import { Recent } from './recent.js';

/** Knowledge of one agent type's programs: how soon they end, and how their contexts grow. */
export interface AgentType {
  readonly index: CompletionIndex;
  readonly growth: ContextGrowth;
}

/**
 * Agent types: a tenant's programs that begin with the same instructions and tools; those without any are one type.
 * The last used are remembered, and each program keeps its own.
 */
export class AgentTypes {
  /** All programs together. */
  readonly all: AgentType = { index: new CompletionIndex(), growth: new ContextGrowth() };
  /** Background programs, which tell nothing of others. */
  readonly background: AgentType = { index: new CompletionIndex(), growth: new ContextGrowth() };
  readonly #types = new Recent<string, AgentType>(() => ({
    index: new CompletionIndex(this.all.index),
    growth: new ContextGrowth(this.all.growth),
  }));

  /** The type of a program, by the family of its first call. */
  of(family: Family | undefined, tenant: TenantId): AgentType {
    return this.#types.get(`${family?.id ?? ''} ${tenant}`);
  }
}
