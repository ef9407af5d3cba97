import assert from 'node:assert/strict';
import { expect, it } from 'vitest';
import type { Balancer } from '../../../src/index.js';
import { Desk } from '../../support/core-desk.js';
import { cancelled, lost } from '../../support/core-events.js';
import { Dice } from '../../support/dice.js';

const LONG = 500;
const GATE = 0.8;
const QUANTA = Array.from({ length: 13 }, (_, level) => 100 * 2 ** level);

/** Long calls go home; otherwise the first open engine in order of joining. */
const simplest: Balancer = {
  name: 'simplest',
  spills: false,
  place: (call, home) => (call.promptTokens > LONG ? home : undefined),
  choose: (_call, open) => open.reduce((a, b) => (b.index < a.index ? b : a)),
  binds: (call) => call.promptTokens > LONG,
};

interface ModelProgram {
  serviceMs: number;
  home: string | undefined;
}

interface ModelCall {
  readonly id: string;
  readonly seq: number;
  readonly program: ModelProgram;
  readonly tokens: number;
  readonly service0Ms: number;
  engine: string | undefined;
  dispatchedAtMs: number;
}

/** The whole of placement, said as plainly as can be: nothing is kept that can be worked out. */
class Model {
  readonly programs = new Map<string, ModelProgram>();
  readonly engines = new Map<string, { window: number; capacity: number; lostAtMs: number }>();
  calls: ModelCall[] = [];
  #seq = 0;

  arrive(id: string, programName: string, tokens: number): void {
    const program = this.programs.get(programName) ?? { serviceMs: 0, home: undefined };
    this.programs.set(programName, program);
    const call = {
      id,
      seq: this.#seq++,
      program,
      tokens,
      service0Ms: program.serviceMs,
      engine: undefined,
      dispatchedAtMs: 0,
    };
    this.calls.push(call);
  }

  /** @param untilMs until when the call was served */
  end(id: string, untilMs: number): void {
    const call = this.calls.find((each) => each.id === id)!;
    this.calls = this.calls.filter((each) => each !== call);
    const usedMs = call.engine === undefined ? 0 : untilMs - call.dispatchedAtMs;
    call.program.serviceMs = Math.max(call.program.serviceMs, call.service0Ms + usedMs);
  }

  lose(engine: string, nowMs: number): void {
    this.engines.get(engine)!.lostAtMs = nowMs;
    for (const program of this.programs.values()) if (program.home === engine) program.home = undefined;
  }

  /** The first call in order of queue and arrival that some engine has room for, again and again. */
  place(nowMs: number): string[] {
    const placed: string[] = [];
    for (;;) {
      const waiting = this.calls.filter((call) => call.engine === undefined);
      waiting.sort((a, b) => levelOf(a.service0Ms) - levelOf(b.service0Ms) || a.seq - b.seq);
      const first = waiting.find((call) => this.#roomFor(call) !== undefined);
      if (first === undefined) return placed;
      first.engine = this.#roomFor(first)!;
      first.dispatchedAtMs = nowMs;
      if (first.tokens > LONG) first.program.home = first.engine;
      placed.push(`${first.id}@${first.engine} from ${levelOf(first.service0Ms)}`);
    }
  }

  #roomFor(call: ModelCall): string | undefined {
    const home = call.tokens > LONG ? call.program.home : undefined;
    for (const [id, { window, capacity, lostAtMs }] of this.engines) {
      if (lostAtMs < Infinity || (home ?? id) !== id) continue;
      const running = this.calls.filter((each) => each.engine === id);
      const tokens = running.reduce((sum, each) => sum + each.tokens, call.tokens);
      if (running.length < window && (running.length === 0 || tokens <= GATE * capacity)) return id;
    }
    return undefined;
  }
}

function levelOf(serviceMs: number): number {
  const level = QUANTA.findIndex((upperMs) => serviceMs < upperMs);
  return level < 0 ? QUANTA.length : level;
}

it('places as the plain statement of it does, in random worlds', () => {
  let placed = 0;
  for (let seed = 0; seed < 600; seed += 1) {
    const dice = new Dice(seed);
    const model = new Model();
    const desk = new Desk(
      {
        // Idle contexts claim nothing here, and each call is a thread of its own: room is what is not in flight.
        policy: { name: 'plas', firstQuantumMs: 100, msPerPromptToken: 0 },
        admission: { gate: GATE, outputReserveTokens: 0 },
      },
      simplest,
    );
    const engines = ['A', 'B', 'C'].slice(0, dice.int(1, 3));
    for (const id of engines) {
      const facts = { window: dice.int(1, 3), capacity: dice.int(500, 3_000) };
      desk.join(id, facts);
      model.engines.set(id, { ...facts, lostAtMs: Infinity });
    }
    for (let n = 0; n < 60; n += 1) {
      desk.nowMs += dice.pick([0, dice.int(1, 150)]);
      const before = desk.log.length;
      const running = model.calls.filter((call) => call.engine !== undefined);
      const engine = dice.pick(engines);
      const { window, capacity, lostAtMs } = model.engines.get(engine)!;
      const up = lostAtMs === Infinity;
      if (dice.chance(0.06) && up) {
        model.lose(engine, desk.nowMs);
        desk.tell(lost(engine));
      } else if (!up && dice.chance(0.4)) {
        model.engines.get(engine)!.lostAtMs = Infinity;
        desk.join(engine, { window, capacity });
      } else if (running.length > 0 && dice.chance(0.45)) {
        const { id } = dice.pick(running);
        model.end(id, desk.nowMs);
        desk.finish(id);
      } else if (model.calls.length > 0 && dice.chance(0.08)) {
        const { id, engine: on } = dice.pick(model.calls);
        model.end(id, Math.min(desk.nowMs, on === undefined ? Infinity : model.engines.get(on)!.lostAtMs));
        desk.tell(cancelled(id));
      } else {
        const [program, tokens] = [`p${dice.int(0, 5)}`, dice.int(1, 1_500)];
        model.arrive(`c${n}`, program, tokens);
        desk.arrive(`c${n}`, { program, prompt: tokens, thread: `c${n}` });
      }
      const sent = desk.log
        .slice(before)
        .flatMap((each) => (each.type === 'dispatch' ? [`${each.call}@${each.engine} from ${each.level}`] : []));
      assert.deepEqual(sent, model.place(desk.nowMs), `in world ${seed}, event ${n}`);
      placed += sent.length;
    }
  }
  expect(placed).toBeGreaterThan(5_000);
});
