import { isDeepStrictEqual } from 'node:util';
import type { TenantId, Work } from '../../src/index.js';
import { pathText } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { analyse, type NodeRest } from './analysis.js';
import { checked } from './checked.js';
import { workOf, type Declaration } from './declaration.js';
import { workflowSchema, type Workflow } from './schema.js';

/** A workflow with the expected rest from each of its nodes, by their ids. */
export interface Registered {
  readonly workflow: Workflow;
  /** 1 for the first graph of its name; each other graph of that name counts one up. */
  readonly version: number;
  readonly rest: ReadonlyMap<string, NodeRest>;
}

/** The part of a call's declaration that the scheduler gets. */
export interface Declared {
  readonly remaining?: Work;
  /** Reason why the named node says nothing. */
  readonly problem?: 'unknown_workflow' | 'unknown_node';
}

/** Most workflows of one tenant. */
export const WORKFLOWS_MAX = 100;

/**
 * The declared workflows of each tenant, in memory. Calls of a running program follow the newest graph: a newer
 * one is a better estimate for them too, and no program has to be remembered.
 */
export class Workflows {
  readonly #byTenant = new Map<TenantId, Map<string, Registered>>();

  /**
   * Registers a workflow, or replaces the one of its name. The same graph again changes nothing, so that every replica
   * of a client may register what it uses.
   * @throws GatewayError `invalid_body`, `workflows_full`
   */
  register(tenant: TenantId, body: unknown): Registered {
    const workflow = checked(workflowSchema, body);
    const { name } = workflow;
    const own = this.#byTenant.get(tenant) ?? new Map<string, Registered>();
    const before = own.get(name);
    if (before !== undefined && isDeepStrictEqual(before.workflow, workflow)) return before;
    if (before === undefined && own.size >= WORKFLOWS_MAX) {
      const message = `A tenant may have at most ${WORKFLOWS_MAX} workflows. Delete one first.`;
      throw new GatewayError('workflows_full', message);
    }
    const { nodes, problems } = analyse(workflow);
    if (nodes === undefined) {
      const [first] = problems;
      const param = pathText(first?.path ?? []);
      throw new GatewayError('invalid_body', `'${param}' ${first?.message ?? 'is wrong'}.`, { param });
    }
    const rest = new Map(nodes.map((node) => [node.id, node]));
    const registered = { workflow, version: (before?.version ?? 0) + 1, rest };
    this.#byTenant.set(tenant, own.set(name, registered));
    return registered;
  }

  list(tenant: TenantId): readonly Registered[] {
    return [...(this.#byTenant.get(tenant)?.values() ?? [])];
  }

  /** @throws GatewayError `unknown_workflow` */
  get(tenant: TenantId, name: string): Registered {
    const found = this.#byTenant.get(tenant)?.get(name);
    if (found !== undefined) return found;
    throw new GatewayError('unknown_workflow', `No workflow ${JSON.stringify(name.slice(0, 200))} is registered.`);
  }

  /** @throws GatewayError `unknown_workflow` */
  remove(tenant: TenantId, name: string): void {
    this.get(tenant, name);
    this.#byTenant.get(tenant)?.delete(name);
  }

  /** A call's declaration: work in its own words, or else the rest from the node that it names. */
  declared(tenant: TenantId, { remaining, workflow, node }: Declaration): Declared {
    const registered = this.#byTenant.get(tenant)?.get(workflow ?? '');
    if (remaining !== undefined) return { remaining: workOf(remaining) };
    if (workflow === undefined && node === undefined) return {};
    if (registered === undefined) return { problem: 'unknown_workflow' };
    const rest = registered.rest.get(node ?? '');
    if (rest === undefined) return { problem: 'unknown_node' };
    // A graph without sizes says nothing of work.
    return rest.calls > 0 ? { remaining: workOf(rest) } : {};
  }
}
