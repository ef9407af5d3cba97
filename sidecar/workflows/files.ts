import { tenantId, type TenantId } from '../../src/index.js';
import {
  ConfigError,
  pathText,
  problemsOf,
  readConfigFile,
  tenantsOf,
  WORKFLOW_NODES_MAX,
  type Config,
  type ConfigProblem,
} from '../config/index.js';
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

/**
 * @param nodesMax most nodes: the check takes their number cubed
 * @throws ConfigError with all faults of the file, each with its field
 */
export function readWorkflow(file: string, nodesMax = WORKFLOW_NODES_MAX): Analysed {
  const { values, originOf } = readConfigFile(file);
  const { data, error } = workflowSchema.safeParse(values, { reportInput: true });
  const tooMany = (data?.nodes.length ?? 0) > nodesMax;
  const { nodes, problems = [] } =
    data === undefined
      ? { nodes: undefined, problems: problemsOf(error.issues, () => []) }
      : tooMany
        ? { nodes: undefined, problems: [{ path: ['nodes'], message: `must have a length of at most ${nodesMax}` }] }
        : analyse(data);
  if (data !== undefined && nodes !== undefined) return { workflow: data, nodes };
  throw new ConfigError(
    problems.map(({ path, message }) => ({ path: pathText(path), message, origin: originOf(path) ?? file })),
  );
}

type Given = Pick<Config, 'workflows' | 'auth' | 'limits'>;

/**
 * Reads the workflows of the configuration, each for one tenant or for all.
 * @throws ConfigError with the faults of all files
 */
export function readWorkflows({ workflows, auth, limits }: Given): Configured[] {
  const problems: ConfigProblem[] = [];
  const taken = new Set<string>();
  const configured = workflows.flatMap((entry): Configured[] => {
    const { file, tenant } = typeof entry === 'string' ? { file: entry, tenant: undefined } : entry;
    const tenants = tenant === undefined ? [...new Set(tenantsOf({ auth }))] : [tenantId(tenant)];
    try {
      const analysed = readWorkflow(file, limits.workflowNodesMax);
      const names = tenants.map((own) => `${own} ${analysed.workflow.name}`);
      if (names.some((name) => taken.has(name)))
        problems.push({ origin: file, path: 'name', message: 'is that of an earlier workflow in `workflows`' });
      names.forEach((name) => taken.add(name));
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
