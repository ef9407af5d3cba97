import { BalancerInUse } from '../loadbalancer/index.js';
import { settingsSchema } from '../sidecar/recording/settings.js';
import {
  BEHAVIOUR,
  BEHAVIOUR_CHANGES,
  Scheduler,
  type BehaviourChange,
  type Command,
  type LogLine,
} from '../src/index.js';
import { readLogLine } from '../workloads/index.js';

/** A line that cannot be given to a scheduler. */
export class ReplayFault extends Error {
  constructor(
    readonly field: string,
    problem: string,
  ) {
    super(problem);
  }
}

/** A line that a scheduler can take. */
type Told = Extract<LogLine, { readonly commands: unknown }>;

export interface Difference {
  readonly step: Told;
  /** Path of the first value that differs, in `commands`; empty: the scheduler takes no such step. */
  readonly field: string;
  readonly recorded: unknown;
  /** The value found instead, or the reason for taking no such step. */
  readonly replayed: unknown;
}

/** A fresh scheduler that steps through an event log, line by line. */
export class CoreReplay {
  readonly #scheduler: Scheduler;
  readonly #balancer = new BalancerInUse();
  /** The core's behaviour when the log was recorded, and its changes since: commands may differ by these. */
  readonly behaviour: number;
  readonly changes: readonly BehaviourChange[];
  /** Identical steps and changes of settings, and the commands in them. */
  steps = 0;
  commands = 0;
  /** Steps and changes of settings taken, with those that differ. */
  #taken = 0;
  /** The end that the log's last line states, once read. */
  ended: 'closed' | 'behind' | undefined;

  /** @throws ReplayFault when the log does not begin with a valid header, or a later behaviour recorded it */
  constructor(header: unknown) {
    const line = parse(header);
    if (!('maitredEventLog' in line))
      throw new ReplayFault('maitredEventLog', 'the log does not begin with its header');
    this.behaviour = line.behaviour;
    if (this.behaviour > BEHAVIOUR)
      throw new ReplayFault('behaviour', `${this.behaviour} is newer than ${BEHAVIOUR}, which is replayed here`);
    this.changes = BEHAVIOUR_CHANGES.filter(({ behaviour }) => behaviour > this.behaviour);
    const settings = parseSettings(line.settings);
    this.#scheduler = new Scheduler(settings, this.#balancer.for(settings.balancer));
  }

  /**
   * Takes the next line, also after one that differs. Returns the difference.
   * @throws ReplayFault when the line is malformed, or out of place
   */
  take(value: unknown): Difference | undefined {
    const step = parse(value);
    if (this.ended !== undefined) throw new ReplayFault('', 'more behind the end of the log');
    if ('maitredEventLog' in step) throw new ReplayFault('maitredEventLog', 'a second header');
    if ('end' in step) {
      if (step.steps !== this.#taken)
        throw new ReplayFault('steps', `${step.steps} were written, ${this.#taken} are here`);
      this.ended = step.end;
      return undefined;
    }
    this.#taken += 1;
    let commands: readonly Command[];
    try {
      commands = this.#tell(step);
    } catch (error) {
      if (error instanceof ReplayFault || !(error instanceof Error)) throw error;
      return { step, field: '', recorded: undefined, replayed: error.message };
    }
    const found = firstDifference(step.commands, commands, 'commands');
    if (found !== undefined) return { step, ...found };
    this.steps += 1;
    this.commands += commands.length;
    return undefined;
  }

  #tell(step: Told): readonly Command[] {
    if ('event' in step) return this.#scheduler.step(step.event, step.now);
    const settings = parseSettings(step.settings);
    return this.#scheduler.configure(settings, this.#balancer.for(settings.balancer), step.now);
  }
}

function parse(value: unknown): LogLine {
  const read = readLogLine(value);
  if ('problem' in read) throw new ReplayFault(read.field, read.problem);
  return read.value;
}

function parseSettings(value: unknown) {
  const { success, data, error } = settingsSchema.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (!success) throw new ReplayFault(['settings', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'malformed');
  return data;
}

/** The first place where two JSON values differ. Undefined counts as absent. */
function firstDifference(recorded: unknown, replayed: unknown, field: string): Omit<Difference, 'step'> | undefined {
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
