import { describe, expect, it } from 'vitest';
import { Desk } from '../../support/core-desk.js';

/** Of an engine that answers at once, and the rest that its refusals ask for. */
const ANSWER_MS = 10;
const REFUSAL_MS = 5;
const REST_MS = 500;
/** As `timeouts.busyMs`: then the client has its refusal, and calls anew as another program. */
const PATIENCE_MS = 60_000;

interface Caller {
  readonly tenant: string;
  /** Whether engines refuse its calls. */
  readonly isRefused: boolean;
  askedAtMs: number;
}

/**
 * Callers that ask one call after the other, each of a new program, on two engines. Returns the times of those of tenant
 * `b` from asking to answer, and the number of refusals.
 */
function play(refused: number, forMs: number, tenant = 'b') {
  const desk = new Desk({});
  for (const engine of ['A', 'B']) desk.join(engine);
  const agenda: { readonly atMs: number; readonly act: () => void }[] = [];
  const callers = new Map<string, Caller>();
  const times: number[] = [];
  let calls = 0;
  let refusals = 0;
  const at = (atMs: number, act: () => void): void => {
    const index = agenda.findIndex((each) => each.atMs > atMs);
    agenda.splice(index < 0 ? agenda.length : index, 0, { atMs, act });
  };
  let seen = 0;
  /** Has engines answer what was sent to them since the last look. */
  const work = (): void => {
    for (; seen < desk.log.length; seen += 1) {
      const command = desk.log[seen]!;
      if (command.type !== 'dispatch') continue;
      const caller = callers.get(command.call)!;
      if (!caller.isRefused) at(desk.nowMs + ANSWER_MS, () => end(command.call, caller));
      else at(desk.nowMs + REFUSAL_MS, () => refuse(command.call, caller));
    }
  };
  const askFor = (caller: Caller): void => {
    const id = `call ${calls++}`;
    callers.set(id, caller);
    caller.askedAtMs = desk.nowMs;
    desk.arrive(id, { program: caller.isRefused ? id : 'served', tenant: caller.tenant });
  };
  const refuse = (id: string, caller: Caller): void => {
    refusals += 1;
    if (desk.nowMs - caller.askedAtMs <= PATIENCE_MS) return void desk.fail(id, 'busy', REST_MS);
    desk.fail(id, 'refused');
    askFor(caller);
  };
  const end = (id: string, caller: Caller): void => {
    desk.finish(id);
    times.push(desk.nowMs - caller.askedAtMs);
    at(desk.nowMs + 100, () => askFor(caller));
  };
  for (let n = 0; n < refused; n += 1) askFor({ tenant: 'a', isRefused: true, askedAtMs: 0 });
  at(2000, () => askFor({ tenant, isRefused: false, askedAtMs: 0 }));
  for (work(); desk.nowMs < forMs; work()) {
    const next = agenda[0];
    if (next === undefined || desk.wakeAtMs < next.atMs) desk.passTo(desk.wakeAtMs);
    else {
      agenda.shift();
      desk.passTo(next.atMs);
      next.act();
    }
  }
  const sorted = times.toSorted((a, b) => a - b);
  return { calls: times.length, p50: sorted[sorted.length >> 1], max: sorted.at(-1), refusals };
}

describe('calls that engines refuse', () => {
  it.each([1, 2, 20, 200])('of %i callers do not stop another tenant', (refused) => {
    const all = play(refused, 120_000);
    console.log('b', refused, JSON.stringify(all), JSON.stringify(play(refused, 120_000, 'a')));
    expect(all.p50).toBeLessThan(100);
    expect(all.max).toBeLessThan(3000);
  });
});
