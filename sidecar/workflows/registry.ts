import { isDeepStrictEqual } from 'node:util';
import type { TenantId, Work } from '../../src/index.js';
import { pathText, type Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { analyse, type NodeRest } from './analysis.js';
import { checked } from './checked.js';
import { workOf, type Declaration } from './declaration.js';
import type { Configured } from './files.js';
import { workflowSchema, type Workflow } from './schema.js';

/** A workflow with the expected rest from each of its nodes, by their ids. */
export interface Registered {
  readonly workflow: Workflow;
  /** 1 for the first graph of its name; each other graph of that name counts one up. */
  readonly version: number;
  readonly rest: ReadonlyMap<string, NodeRest>;
  /** Whether a client has registered it, which the configuration does not undo. */
  readonly byClient: boolean;
}

/** The part of a call's declaration that the scheduler gets. */
export interface Declared {
  readonly remaining?: Work;
  /** Reason why the named node says nothing. */
  readonly problem?: 'unknown_workflow' | 'unknown_node';
}

type Limits = Pick<Config['limits'], 'workflowsPerTenantMax' | 'workflowNodesMax'>;

/**
 * The declared workflows of each tenant, in memory. Calls of a running program follow the newest graph: a newer
 * one is a better estimate for them too, and no program has to be remembered.
 */
export class Workflows {
  readonly #byTenant = new Map<TenantId, Map<string, Registered>>();

  constructor(private readonly limits: () => Limits) {}

  /**
   * Replaces the workflows of the configuration by these. They take the place of graphs that clients have registered by
   * the same names. Clients may replace and remove them, until the next reload.
   */
  configure(configured: readonly Configured[]): void {
    const names = (tenant: TenantId): Set<string> =>
      new Set(configured.flatMap(({ tenants, workflow }) => (tenants.includes(tenant) ? workflow.name : [])));
    for (const [tenant, own] of this.#byTenant) {
      const kept = names(tenant);
      for (const [name, { byClient }] of own) if (!byClient && !kept.has(name)) own.delete(name);
    }
    for (const { tenants, workflow, nodes } of configured)
      for (const tenant of tenants) this.#put(tenant, workflow, false, () => nodes);
  }

  /**
   * Registers a workflow, or replaces the one of its name. The same graph again changes nothing, so that every replica
   * of a client may register what it uses.
   * @throws GatewayError `invalid_body`, `workflows_full`
   */
  register(tenant: TenantId, body: unknown): Registered {
    const { workflowsPerTenantMax, workflowNodesMax } = this.limits();
    const workflow = checked(workflowSchema, body);
    const { name, nodes } = workflow;
    if (nodes.length > workflowNodesMax) throw wrong('nodes', `has ${nodes.length} nodes, above ${workflowNodesMax}`);
    const own = this.#byTenant.get(tenant);
    if (!own?.has(name) && (own?.size ?? 0) >= workflowsPerTenantMax) {
      const message = `A tenant may have at most ${workflowsPerTenantMax} workflows. Delete one first.`;
      throw new GatewayError('workflows_full', message);
    }
    return this.#put(tenant, workflow, true, () => {
      const { nodes: rest, problems } = analyse(workflow);
      if (rest !== undefined) return rest;
      const [first] = problems;
      throw wrong(pathText(first?.path ?? []), first?.message ?? 'is wrong');
    });
  }

  /** @param restOf the rest from each node; not asked for where the graph is the same as before */
  #put(tenant: TenantId, workflow: Workflow, byClient: boolean, restOf: () => readonly NodeRest[]): Registered {
    const own = this.#byTenant.get(tenant) ?? new Map<string, Registered>();
    const before = own.get(workflow.name);
    const isSame = before !== undefined && isDeepStrictEqual(before.workflow, workflow);
    const registered = isSame
      ? { ...before, byClient: byClient || before.byClient }
      : {
          workflow,
          version: (before?.version ?? 0) + 1,
          rest: new Map(restOf().map((node) => [node.id, node])),
          byClient,
        };
    this.#byTenant.set(tenant, own.set(workflow.name, registered));
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

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_body', `'${param}' ${message}.`, { param });
}
