import { BalancerInUse } from '../loadbalancer/index.js';
import { settingsSchema } from '../sidecar/settings.js';
import { LogFault, readLogLine, Scheduler, type Command, type LogLine } from '../src/index.js';

/** A line that no scheduler can be told. */
export class ReplayFault extends Error {
  constructor(
    readonly field: string,
    problem: string,
  ) {
    super(problem);
  }
}

/** A line that the scheduler is told. */
export type Told = Extract<LogLine, { readonly commands: unknown }>;

export interface Difference {
  readonly step: Told;
  /** What the scheduler commands; undefined: it takes no such step. */
  readonly commands: readonly Command[] | undefined;
  /** The path to the first value that is another one: in `commands`, or the step itself. */
  readonly field: string;
  readonly recorded: unknown;
  /** What is there instead, or why no such step is taken. */
  readonly replayed: unknown;
}

/** A fresh scheduler that is told what an event log says, line by line. */
export class CoreReplay {
  readonly #scheduler: Scheduler;
  readonly #balancer = new BalancerInUse();
  readonly recordedBy: string;
  /** Steps and changes of settings that were identical, and the commands in them. */
  steps = 0;
  commands = 0;
  /** What its last line says, once that has come. */
  ended: 'closed' | 'behind' | undefined;

  /** @throws ReplayFault when the log does not begin with a header that can be used. */
  constructor(header: unknown) {
    const line = parse(header);
    if (!('maitredEventLog' in line))
      throw new ReplayFault('maitredEventLog', 'the log does not begin with its header');
    this.recordedBy = line.maitred;
    const settings = parseSettings(line.settings);
    this.#scheduler = new Scheduler(settings, this.#balancer.for(settings.balancer));
  }

  /** The next line. @throws ReplayFault when it is malformed, or cannot come here. */
  take(value: unknown): { readonly step: LogLine; readonly difference?: Difference } {
    const step = parse(value);
    if (this.ended !== undefined) throw new ReplayFault('', 'more behind the end of the log');
    if ('maitredEventLog' in step) throw new ReplayFault('maitredEventLog', 'a second header');
    if ('end' in step) {
      if (step.steps !== this.steps)
        throw new ReplayFault('steps', `${step.steps} were written, ${this.steps} are here`);
      this.ended = step.end;
      return { step };
    }
    let commands: readonly Command[];
    try {
      commands = this.#tell(step);
    } catch (error) {
      if (error instanceof ReplayFault || !(error instanceof Error)) throw error;
      const { message } = error;
      return { step, difference: { step, commands: undefined, field: '', recorded: undefined, replayed: message } };
    }
    const found = firstDifference(step.commands, commands, 'commands');
    if (found !== undefined) return { step, difference: { step, commands, ...found } };
    this.steps += 1;
    this.commands += commands.length;
    return { step };
  }

  #tell(step: Told): readonly Command[] {
    if ('event' in step) return this.#scheduler.step(step.event, step.now);
    const settings = parseSettings(step.settings);
    return this.#scheduler.configure(settings, this.#balancer.for(settings.balancer), step.now);
  }
}

function parse(value: unknown): LogLine {
  const line = readLogLine(value);
  if (line instanceof LogFault) throw new ReplayFault(line.field, line.problem);
  return line;
}

function parseSettings(value: unknown) {
  const { success, data, error } = settingsSchema.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (!success) throw new ReplayFault(['settings', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'malformed');
  return data;
}

type Found = Pick<Difference, 'field' | 'recorded' | 'replayed'>;

/** The first place where two values of JSON are not the same. What is undefined is as good as absent. */
function firstDifference(recorded: unknown, replayed: unknown, field: string): Found | undefined {
  if (recorded === replayed) return undefined;
  if (typeof recorded !== 'object' || typeof replayed !== 'object' || recorded === null || replayed === null) {
    return Number.isNaN(recorded) && Number.isNaN(replayed) ? undefined : { field, recorded, replayed };
  }
  const [before, after] = [recorded, replayed] as Record<string, unknown>[];
  for (const key of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
    const found = firstDifference(before?.[key], after?.[key], `${field}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
