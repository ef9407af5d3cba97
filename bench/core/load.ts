import {
  type SchedulerConfig,
  callId,
  engineId,
  millis,
  modelId,
  programId,
  type Scheduler,
  tenantId,
  tokens,
  type Event,
} from '../../src/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import { makeRandom } from '../numbers.js';

/** The gateway's defaults, with room for the calls and programs of a bench. */
export function settings(rows: number, policy: Partial<SchedulerConfig['policy']> = {}): SchedulerConfig {
  const config = loadConfig({});
  const limits = { ...config.limits, programsMax: rows, queuedMax: 1_000_000, queuedPerTenantMax: 1_000_000 };
  // The load never ends, so the last in order would wait for ever: no call may be refused for that.
  const timeouts = { ...config.timeouts, queueMs: 1e9 };
  return { ...config, policy: { ...config.policy, ...policy }, limits, timeouts };
}

export const ENGINES = 4;
export const WINDOW = 256;
/** KV tokens of an engine: with the prompts below it holds fewer calls than the window. */
export const CAPACITY = 1_000_000;
const MODEL = modelId('m');
/** Mean time of a call: about a thousand decisions a second on the scheduler's clock. */
const SERVICE_MS = 1000;
/** Share of arrivals that are a known program's next call. */
const RETURNING = 0.9;
const PROMPT_FIRST = 500;
const PROMPT_MOST = 16_000;
const PROMPT_GROWTH = 1200;

interface Program {
  readonly id: string;
  readonly tenant: string;
  promptTokens: number;
}

export function joined(engine: string, gate: boolean): Event {
  return {
    type: 'engineJoined',
    engine: engineId(engine),
    models: [MODEL],
    windowMax: WINDOW,
    ...(gate && { capacityTokens: tokens(CAPACITY) }),
  };
}

export function arrived(call: string, program: string, promptTokens: number, tenant = 't'): Event {
  return {
    type: 'callArrived',
    call: callId(call),
    program: programId(program),
    tenant: tenantId(tenant),
    thread: '',
    model: MODEL,
    promptTokens: tokens(promptTokens),
  };
}

export function finished(call: string, promptTokens: number): Event {
  const usage = {
    promptTokens: tokens(promptTokens),
    outputTokens: tokens(100),
    cachedTokens: tokens(Math.floor(promptTokens * 0.8)),
  };
  return { type: 'callFinished', call: callId(call), usage };
}

/**
 * A fleet in steady overload: programs whose prompts grow from call to call, engines that are full, a queue of a given
 * length. One decision is everything that one answer causes: the finish, the dispatch of the next call, a new arrival,
 * and the timers due before it. Time passes between them as on a fleet that runs calls for a second each.
 */
export class Load {
  readonly #random = makeRandom(1);
  readonly #programs = new Map<string, Program>();
  readonly #idle: Program[] = [];
  readonly #running: string[] = [];
  #nowMs = 0;
  #wakeAtMs = Infinity;
  #calls = 0;
  #waiting = 0;

  constructor(
    private readonly desk: Scheduler,
    gate: boolean,
    /** Number of tenants; each has one more share of the programs than the one before. */
    private readonly tenants = 1,
  ) {
    for (let i = 0; i < ENGINES; i += 1) this.#tell(joined(`e${i}`, gate));
  }

  fill(queued: number): void {
    while (this.#waiting < queued) {
      this.#nowMs += 0.05;
      this.#arrive();
    }
  }

  /** One decision. Returns the scheduler's time for it, in microseconds. */
  decide(): number {
    const atMs = this.#nowMs - (Math.log(1 - this.#random()) * SERVICE_MS) / this.#running.length;
    let micros = 0;
    while (this.#wakeAtMs <= atMs) {
      this.#nowMs = Math.max(this.#nowMs, this.#wakeAtMs);
      this.#wakeAtMs = Infinity;
      micros += this.#tell({ type: 'woke' });
    }
    this.#nowMs = atMs;
    return micros + this.#finish() + this.#arrive();
  }

  #arrive(): number {
    const program = this.#random() < RETURNING ? takeAt(this.#idle, this.#random()) : undefined;
    const { id, tenant, promptTokens } = program ?? this.#newProgram();
    const call = `c${this.#calls++}`;
    this.#programs.set(call, program ?? { id, tenant, promptTokens });
    this.#waiting += 1;
    return this.#tell(arrived(call, id, promptTokens, tenant));
  }

  #newProgram(): Program {
    // Drawn only where it matters, so that the other loads stay as they were.
    const tenant = this.tenants === 1 ? 't' : `t${Math.floor(Math.sqrt(this.#random()) * this.tenants)}`;
    return {
      id: `t:program-${this.#calls}`,
      tenant,
      promptTokens: PROMPT_FIRST + Math.floor(this.#random() * 4 * PROMPT_FIRST),
    };
  }

  #finish(): number {
    const call = takeAt(this.#running, this.#random());
    if (call === undefined) throw new Error('nothing runs');
    const program = this.#programs.get(call) as Program;
    this.#programs.delete(call);
    const micros = this.#tell(finished(call, program.promptTokens));
    program.promptTokens = Math.min(PROMPT_MOST, program.promptTokens + PROMPT_GROWTH);
    this.#idle.push(program);
    return micros;
  }

  #tell(event: Event): number {
    const startedAt = performance.now();
    const commands = this.desk.step(event, millis(this.#nowMs));
    const micros = (performance.now() - startedAt) * 1000;
    for (const command of commands) {
      if (command.type === 'wakeAt') this.#wakeAtMs = command.at;
      else if (command.type === 'dispatch') {
        this.#running.push(command.call);
        this.#waiting -= 1;
      } else if (command.type === 'reject') throw new Error(`a call was refused: ${command.refusal}`);
    }
    return micros;
  }
}

function takeAt<T>(list: T[], share: number): T | undefined {
  const index = Math.floor(share * list.length);
  const last = list.pop();
  if (index >= list.length) return last;
  const taken = list[index];
  list[index] = last as T;
  return taken;
}
