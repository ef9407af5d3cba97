import type { PolicySettings } from '../config.js';
import type { Call } from '../programs/call.js';
import { typeName } from '../programs/agent-types.js';
import type { Program } from '../programs/process-table.js';
import { Recent } from '../programs/recent.js';
import type { ProgramHinted, ToolFinished, ToolStarted, Work } from '../protocol/events.js';
import type { TenantId } from '../protocol/units.js';
import { Accuracy } from './accuracy.js';
import { Calibration } from './calibration.js';
import { ExecutionGraph } from './execution-graph.js';
import { Outlook } from './outlook.js';
import type { AnsweredTokens } from './thread-path.js';
import { ToolLatency } from './tool-latency.js';

/** Tenants whose tools are remembered, and tools of one of them, the last used. */
const TENANTS_MAX = 256;
const TOOLS_MAX = 128;
/** In place of a tool: what a client does between its last tool and its call. No client names a tool like this. */
const CLIENT = '\n';

type Settings = Pick<PolicySettings, 'foresight' | 'msPerPromptToken' | 'msPerOutputToken'>;

/**
 * Knowledge of what programs will do, from three sources: what clients declare, what they tell of their tools as it
 * happens, and what earlier programs of the same agent type did (SAGA, 3.3). An agent type is a tenant's programs with
 * the same instructions and tools; sub-agents with their own are one of their own.
 */
export class Foresight {
  readonly accuracy = new Accuracy();
  readonly #graphs = new Recent<string, ExecutionGraph>(() => new ExecutionGraph());
  readonly #declarations = new Recent<TenantId, Calibration>(() => new Calibration());
  readonly #tools = new Recent<TenantId, Recent<string, ToolLatency>>(
    () => new Recent((name) => new ToolLatency(name), TOOLS_MAX),
    TENANTS_MAX,
  );

  /** A call arrives, with the rest of its program as its client declares it. */
  arrived(call: Call, remaining: Work | undefined, settings: Settings): void {
    const { program, family, thread } = call;
    if (settings.foresight === 'none') {
      // Observations from before a reload are soon out of date.
      program.outlook = undefined;
      return;
    }
    program.outlook ??= new Outlook(program.type.index, this.#declarations.get(program.tenant), this.accuracy);
    program.outlook.arrived(thread, this.#graphs.get(typeName(family, program.tenant)), call.arrivedAtMs);
    this.#declared(program, remaining, settings);
    program.outlook.foresee(program.serviceMs);
    call.expectedTotalMs = program.outlook.totalMs(program.serviceMs) ?? 0;
  }

  /** The client tells something of its program. */
  told(row: Program, event: ProgramHinted | ToolStarted | ToolFinished, settings: Settings, nowMs: number): void {
    if (settings.foresight === 'none') return;
    if (event.type === 'programHinted') return this.#declared(row, event.remaining, settings);
    const path = row.outlook?.path(event.thread);
    const tool = this.#tool(row, event.tool);
    if (event.type === 'toolStarted') path?.toolStarted(tool, event.expectedMs, nowMs);
    else path?.toolFinished(tool, this.#tool(row, CLIENT), nowMs);
  }

  #declared({ outlook, serviceMs }: Program, remaining: Work | undefined, settings: Settings): void {
    if (settings.foresight !== 'declared' || remaining === undefined) return;
    const { promptTokens, outputTokens } = remaining;
    const declaredMs = promptTokens * settings.msPerPromptToken + outputTokens * settings.msPerOutputToken;
    if (Number.isFinite(declaredMs)) outlook?.declare(declaredMs, serviceMs);
  }

  /** The call has its answer, which asks for these tools. */
  answered({ program, thread }: Call, tools: readonly string[], size: AnsweredTokens, nowMs: number): void {
    const asked = this.#tool(program, [...new Set(tools)].sort().join(', '));
    program.outlook?.path(thread)?.answered(asked, size, nowMs);
  }

  #tool({ tenant }: Program, name: string): ToolLatency {
    return this.#tools.get(tenant).get(name);
  }
}
