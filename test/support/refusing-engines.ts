import type { CoreChanges } from './core-config.js';
import { started } from './core-events.js';
import { Desk } from './core-desk.js';

/** Callers alike, each with one call at a time. */
interface Callers {
  readonly count: number;
  /** Undefined: each is a tenant of its own. */
  readonly tenant?: string;
  /** Whether each call is of a new program; else all calls of a caller are of one. */
  readonly isAnew?: boolean;
  /** Whether engines refuse all of its calls. */
  readonly isRefused?: boolean;
  /** Time from an answer to the next call; Infinity: it makes one call. */
  readonly thinkMs: number;
  readonly fromMs?: number;
  /** Time between the first calls of two callers. */
  readonly apartMs?: number;
}

interface World {
  readonly callers: readonly Callers[];
  readonly forMs: number;
  readonly answerMs: number;
  /** Most calls that an engine runs; it refuses others. */
  readonly capacity?: number;
  /** Time until which engines refuse everything. */
  readonly loadMs?: number;
  readonly engines?: readonly string[];
  readonly changes?: CoreChanges;
}

interface Caller extends Callers {
  readonly name: string;
  askedAtMs: number;
}

const REFUSAL_MS = 5;
/** The rest that refusals ask for. */
const REST_MS = 500;
/** As `timeouts.busyMs`: then the client has its refusal, and calls anew. */
const PATIENCE_MS = 60_000;

/**
 * Runs callers on engines that answer "no room" at once, in virtual time. Returns when each engine refused a call, and
 * for each answered call when it was asked and how long its answer took.
 */
export function refuseAndServe(world: World) {
  const { callers, forMs, answerMs, capacity = Infinity, loadMs = 0, engines = ['A', 'B'], changes = {} } = world;
  const desk = new Desk(changes);
  for (const engine of engines) desk.join(engine);
  const agenda: { readonly atMs: number; readonly act: () => void }[] = [];
  const calls = new Map<string, Caller>();
  const running = new Map(engines.map((engine) => [engine, 0]));
  const answers: { readonly atMs: number; readonly ms: number; readonly caller: string }[] = [];
  const refusals: { readonly atMs: number; readonly engine: string; readonly window: number }[] = [];
  let seen = 0;
  const at = (atMs: number, act: () => void): void => {
    const index = agenda.findIndex((each) => each.atMs > atMs);
    agenda.splice(index < 0 ? agenda.length : index, 0, { atMs, act });
  };
  const work = (): void => {
    for (; seen < desk.log.length; seen += 1) {
      const command = desk.log[seen]!;
      if (command.type !== 'dispatch') continue;
      const { call, engine } = command;
      const busy = running.get(engine)!;
      if (calls.get(call)!.isRefused || busy >= capacity || desk.nowMs < loadMs)
        at(desk.nowMs + REFUSAL_MS, () => refuse(call, engine));
      else {
        running.set(engine, busy + 1);
        // From half to one and a half of it: engines whose calls end together hide what rests cost.
        const ms = answerMs * (0.5 + ((seen * 37) % 100) / 100);
        at(desk.nowMs + ms / 2, () => desk.tell(started(call)));
        at(desk.nowMs + ms, () => end(call, engine));
      }
    }
  };
  const ask = (caller: Caller): void => {
    const call = `call ${calls.size}`;
    calls.set(call, caller);
    caller.askedAtMs = desk.nowMs;
    const program = caller.isAnew ? call : caller.name;
    desk.arrive(call, { program, tenant: caller.tenant ?? caller.name });
  };
  const refuse = (call: string, engine: string): void => {
    const caller = calls.get(call)!;
    const isOver = desk.nowMs - caller.askedAtMs > PATIENCE_MS;
    desk.fail(call, isOver ? 'refused' : 'busy', isOver ? undefined : REST_MS);
    refusals.push({ atMs: desk.nowMs, engine, window: desk.engine(engine).window });
    if (isOver) ask(caller);
  };
  const end = (call: string, engine: string): void => {
    const caller = calls.get(call)!;
    running.set(engine, running.get(engine)! - 1);
    desk.finish(call);
    answers.push({ atMs: caller.askedAtMs, ms: desk.nowMs - caller.askedAtMs, caller: caller.name });
    if (caller.thinkMs < Infinity) at(desk.nowMs + caller.thinkMs, () => ask(caller));
  };
  for (const [kind, group] of callers.entries())
    for (let n = 0; n < group.count; n += 1) {
      const caller = { ...group, name: `${kind}-${n}`, askedAtMs: 0 };
      at((group.fromMs ?? 0) + n * (group.apartMs ?? 0), () => ask(caller));
    }
  while (desk.nowMs < forMs) {
    const next = agenda[0];
    if (next === undefined || desk.wakeAtMs < next.atMs) desk.passTo(desk.wakeAtMs);
    else {
      agenda.shift();
      desk.passTo(next.atMs);
      next.act();
    }
    work();
  }
  return { answers, refusals, desk };
}
