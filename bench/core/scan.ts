import type { CallArrived, Command, EngineId, Event, Millis } from '../../src/index.js';
import type { Desk } from './load.js';

interface Room {
  slots: number;
  tokens: number;
}

interface Run {
  readonly call: CallArrived;
  readonly engine: EngineId;
  readonly atMs: number;
}

/**
 * The naive scheduler, for comparison: waiting calls in an array. Whenever there is room, it searches for the fitting
 * call whose program has had least service. It has no levels, timers, homes, reservations or fading contexts. So it
 * does far less for each call examined, but examines them all.
 */
export class ScanDesk implements Desk {
  readonly #engines = new Map<EngineId, Room>();
  readonly #waiting: CallArrived[] = [];
  readonly #running = new Map<string, Run>();
  readonly #serviceMs = new Map<string, number>();

  step(event: Event, now: Millis): Command[] {
    if (event.type === 'engineJoined')
      this.#engines.set(event.engine, { slots: event.windowMax ?? 0, tokens: event.capacityTokens ?? Infinity });
    else if (event.type === 'callArrived') this.#waiting.push(event);
    else if (event.type === 'callFinished') {
      const run = this.#running.get(event.call);
      if (run !== undefined) this.#free(run, now);
    }
    const out: Command[] = [];
    for (let next = this.#dispatch(now); next !== undefined; next = this.#dispatch(now)) out.push(next);
    return out;
  }

  #free({ call, engine, atMs }: Run, now: number): void {
    this.#running.delete(call.call);
    const room = this.#engines.get(engine) as Room;
    room.slots += 1;
    room.tokens += call.promptTokens;
    this.#serviceMs.set(call.program, (this.#serviceMs.get(call.program) ?? 0) + now - atMs);
  }

  #dispatch(now: Millis): Command | undefined {
    let most = 0;
    let engine: EngineId | undefined;
    for (const [id, room] of this.#engines) {
      if (room.slots === 0 || room.tokens <= most) continue;
      most = room.tokens;
      engine = id;
    }
    if (engine === undefined) return undefined;
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < this.#waiting.length; i += 1) {
      const call = this.#waiting[i] as CallArrived;
      if (call.promptTokens > most) continue;
      const serviceMs = this.#serviceMs.get(call.program) ?? 0;
      if (serviceMs >= least) continue;
      least = serviceMs;
      best = i;
    }
    const [call] = best < 0 ? [] : this.#waiting.splice(best, 1);
    if (call === undefined) return undefined;
    const room = this.#engines.get(engine) as Room;
    room.slots -= 1;
    room.tokens -= call.promptTokens;
    this.#running.set(call.call, { call, engine, atMs: now });
    return { type: 'dispatch', call: call.call, engine, level: 0, queueMs: now, reason: 'queued', placement: 'spread' };
  }
}
