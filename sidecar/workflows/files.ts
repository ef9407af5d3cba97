import { DEFAULT_TENANT } from '../auth.js';
import { readConfigFile } from '../config/file.js';
import { ConfigError, pathText, problemsOf, type ConfigProblem, type Path } from '../config/problems.js';
import type { Config } from '../config/schema.js';
import { tenantId, type TenantId } from '../../src/index.js';
import { analyse, type NodeRest } from './analysis.js';
import { workflowSchema, type Workflow } from './schema.js';

/** A checked workflow, with the expected rest from each node. */
export interface Analysed {
  readonly workflow: Workflow;
  readonly nodes: readonly NodeRest[];
}

/** A workflow of the configuration, and the tenants that have it. */
export interface Configured extends Analysed {
  readonly tenants: readonly TenantId[];
}

/** @throws ConfigError with all faults of the file, each with its field */
export function readWorkflow(file: string): Analysed {
  const { values, originOf } = readConfigFile(file);
  return checkWorkflow(values, (path) => originOf(path) ?? file);
}

/** @throws ConfigError with all problems */
export function checkWorkflow(values: unknown, originOf: (path: Path) => string): Analysed {
  const { data, error } = workflowSchema.safeParse(values, { reportInput: true });
  const { nodes, problems = [] } =
    data === undefined ? { nodes: undefined, problems: problemsOf(error.issues, () => []) } : analyse(data);
  if (data !== undefined && nodes !== undefined) return { workflow: data, nodes };
  throw new ConfigError(
    problems.map(({ path, message }) => ({ path: pathText(path), message, origin: originOf(path) })),
  );
}

/**
 * Reads the workflows of the configuration, each for one tenant or for all.
 * @throws ConfigError with the faults of all files
 */
export function readWorkflows({
  workflows,
  auth,
  limits,
}: Pick<Config, 'workflows' | 'auth' | 'limits'>): Configured[] {
  const all = auth.keys.length === 0 ? [DEFAULT_TENANT] : [...new Set(auth.keys.map(({ tenant }) => tenantId(tenant)))];
  const problems: ConfigProblem[] = [];
  const names = new Set<string>();
  const configured = workflows.flatMap((entry, index): Configured[] => {
    const { file, tenant } = typeof entry === 'string' ? { file: entry, tenant: undefined } : entry;
    try {
      const analysed = readWorkflow(file);
      const { name, nodes } = analysed.workflow;
      if (nodes.length > limits.workflowNodesMax) throw fault(file, 'nodes', `has ${nodes.length} nodes, above limits.workflowNodesMax, which is ${limits.workflowNodesMax}`); // prettier-ignore
      const tenants = tenant === undefined ? all : [tenantId(tenant)];
      for (const own of tenants) {
        const key = `${own} ${name}`;
        if (names.has(key)) throw fault(file, 'name', `is that of an earlier file of workflows, before workflows[${index}]`); // prettier-ignore
        names.add(key);
      }
      return [{ ...analysed, tenants }];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return configured;
}

const fault = (origin: string, path: string, message: string) => new ConfigError([{ origin, path, message }]);
