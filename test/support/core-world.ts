import type { Balancer, Command, Event } from '../../src/index.js';
import type { CoreChanges } from './core-config.js';
import { Desk } from './core-desk.js';
import { arrived, finished, joined, woke, type EngineFacts } from './core-events.js';
import type { BalancerName } from '../../loadbalancer/index.js';

export interface WorldCall {
  readonly prompt?: number;
  readonly output?: number;
  readonly serviceMs: number;
  readonly thread?: string;
}

/** Each step is a set of parallel calls; the next begins `gapMs` after the last of them has ended. */
export interface WorldProgram {
  readonly id: string;
  readonly tenant?: string;
  readonly startMs?: number;
  readonly gapMs?: number;
  readonly steps: readonly (readonly WorldCall[])[];
}

export interface WorldOptions {
  readonly changes?: CoreChanges;
  readonly balancer?: BalancerName | Balancer;
  readonly engines: Readonly<Record<string, EngineFacts>>;
  readonly programs: readonly WorldProgram[];
  /** Also steps the scheduler at every multiple of this time, which must change nothing. */
  readonly tickMs?: number;
}

export interface WorldResult {
  /** Every command but `wakeAt`, with its time, in order. */
  readonly log: readonly { readonly atMs: number; readonly command: Command }[];
  /** End of each program's last call. */
  readonly doneAtMs: ReadonlyMap<string, number>;
}

/** Engine time of each tenant's calls in a part of the run, in milliseconds. */
export function engineMs(
  { log }: WorldResult,
  serviceMs: number,
  fromMs: number,
  toMs: number,
  tenantOf: (call: string) => string,
) {
  const sums: Record<string, number> = {};
  for (const { atMs, command } of log) {
    if (command.type !== 'dispatch') continue;
    const tenant = tenantOf(command.call);
    const ms = Math.max(0, Math.min(toMs, atMs + serviceMs) - Math.max(fromMs, atMs));
    sums[tenant] = (sums[tenant] ?? 0) + ms;
  }
  return sums;
}

interface Progress {
  readonly program: WorldProgram;
  step: number;
  open: number;
}

const STEPS_MAX = 1_000_000;

/** A small deterministic world in virtual time: engines take exactly the given times. */
export class World {
  readonly #desk: Desk;
  readonly #agenda: { readonly atMs: number; readonly seq: number; readonly act: () => void }[] = [];
  readonly #calls = new Map<string, { readonly progress: Progress; readonly call: WorldCall }>();
  readonly #log: { atMs: number; command: Command }[] = [];
  readonly #doneAtMs = new Map<string, number>();
  #seq = 0;

  constructor(readonly options: WorldOptions) {
    this.#desk = new Desk(options.changes, options.balancer);
  }

  run(): WorldResult {
    const { engines, programs, tickMs = Infinity } = this.options;
    const desk = this.#desk;
    for (const [id, facts] of Object.entries(engines)) this.#tell(joined(id, facts));
    for (const program of programs) {
      const progress = { program, step: 0, open: 0 };
      this.#at(program.startMs ?? 0, () => this.#begin(progress));
    }
    let nextTickMs = tickMs;
    for (let steps = 0; this.#doneAtMs.size < programs.length; steps += 1) {
      if (steps > STEPS_MAX) throw new Error('the world does not end');
      const next = this.#agenda[0];
      const dueMs = Math.min(next?.atMs ?? Infinity, desk.wakeAtMs);
      if (dueMs === Infinity) throw new Error(`nothing more will happen at ${desk.nowMs} ms`);
      desk.nowMs = Math.max(desk.nowMs, Math.min(dueMs, nextTickMs));
      if (nextTickMs < dueMs) {
        nextTickMs += tickMs;
        this.#tell(woke);
      } else if (next !== undefined && next.atMs <= desk.wakeAtMs) {
        this.#agenda.shift();
        next.act();
      } else {
        desk.wakeAtMs = Infinity;
        this.#tell(woke);
      }
    }
    return { log: this.#log, doneAtMs: this.#doneAtMs };
  }

  #begin(progress: Progress): void {
    const calls = progress.program.steps[progress.step];
    if (calls === undefined) {
      this.#doneAtMs.set(progress.program.id, this.#desk.nowMs);
      return;
    }
    progress.open = calls.length;
    for (const [index, call] of calls.entries()) {
      const id = `${progress.program.id}/${progress.step}.${index}`;
      this.#calls.set(id, { progress, call });
      const { id: program, tenant = 't' } = progress.program;
      this.#tell(arrived(id, { program, tenant, prompt: call.prompt ?? 100, thread: call.thread ?? '' }));
    }
  }

  #end(id: string): void {
    const { progress } = this.#calls.get(id)!;
    this.#calls.delete(id);
    progress.open -= 1;
    if (progress.open > 0) return;
    progress.step += 1;
    const last = progress.step === progress.program.steps.length;
    this.#at(this.#desk.nowMs + (last ? 0 : (progress.program.gapMs ?? 0)), () => this.#begin(progress));
  }

  #tell(event: Event): void {
    for (const command of this.#desk.tell(event)) {
      this.#log.push({ atMs: this.#desk.nowMs, command });
      if (command.type === 'dispatch') this.#work(command.call);
      if (command.type === 'reject') this.#at(this.#desk.nowMs, () => this.#end(command.call));
    }
  }

  #work(id: string): void {
    const { call } = this.#calls.get(id)!;
    this.#at(this.#desk.nowMs + call.serviceMs, () => {
      this.#tell(finished(id, { prompt: call.prompt ?? 100, output: call.output ?? 10 }));
      this.#end(id);
    });
  }

  #at(atMs: number, act: () => void): void {
    this.#agenda.push({ atMs, seq: this.#seq++, act });
    this.#agenda.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq);
  }
}
