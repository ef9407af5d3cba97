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
 * A tenant's programs that begin with the same instructions and tools are one type; so are those without any. A type begins
 * as all programs of its harness are, and a harness as all programs are. The last used are remembered.
 */
export class AgentTypes {
  readonly all: AgentType = { index: new CompletionIndex(), growth: new ContextGrowth() };
  /** Background programs, which tell nothing of others. */
  readonly background: AgentType = { index: new CompletionIndex(), growth: new ContextGrowth() };
  readonly #harnesses = new Recent<string, AgentType>(() => under(this.all));
  readonly #types = new Recent<string, AgentType, AgentType>((_, harness) => under(harness));

  /** The type of a program, by the family of its first call. */
  of(family: Family | undefined, tenant: TenantId): AgentType {
    const harness = family?.harness === undefined ? this.all : this.#harnesses.get(`${family.harness} ${tenant}`);
    return this.#types.get(`${family?.id ?? ''} ${tenant}`, harness);
  }
}

const under = ({ index, growth }: AgentType): AgentType => ({
  index: new CompletionIndex(index),
  growth: new ContextGrowth(growth),
});
