import { loadConfig } from '../sidecar/config/load.js';
import { ExpectedWaits, type ExpectedWait } from '../sidecar/watch/expected-waits.js';
import { CONDITIONS, makeSimBalancer, PRESETS, runWorld } from '../sim/index.js';
import { type CallId, type Command, type Event, type Millis, Scheduler } from '../src/index.js';
import { programs, WORKLOADS } from '../workloads/index.js';
import { percentile, printTable, say, show } from './numbers.js';
import { STANDING } from './order.js';

const LOADS = ['mixed, 1.2/s', 'chat, 6/s', 'team, 0.5/s', 'fleet, 0.9/s', 'coding, 0.2/s'] as const;
const READ_MS = 5000;

interface Told {
  readonly atMs: number;
  readonly expected: ExpectedWait | undefined;
}
type Ended = Told & { readonly waitedMs: number };

/** A scheduler whose waiting calls are told their expected wait at each comment of their streams. */
class Teller {
  readonly ended: Ended[] = [];
  readonly #config = loadConfig({});
  readonly #expected = new ExpectedWaits();
  readonly #told = new Map<CallId, { readonly arrivedAtMs: number; readonly told: Told[] }>();
  readonly scheduler: Scheduler;
  #readAtMs = 0;

  constructor(prefixOf: Parameters<typeof makeSimBalancer>[1]) {
    this.scheduler = new Scheduler(this.#config, makeSimBalancer(this.#config.balancer, prefixOf));
  }

  step(event: Event, now: Millis): Command[] {
    const commands = this.scheduler.step(event, now);
    if (event.type === 'callArrived') this.#told.set(event.call, { arrivedAtMs: now, told: [] });
    for (const command of commands) if (command.type === 'dispatch') this.#dispatched(command.call, now);
    if (now >= this.#readAtMs) this.#read(now);
    return commands;
  }

  #read(now: number): void {
    this.#readAtMs = now + READ_MS;
    const waits = new Map(this.scheduler.views.waits());
    this.#expected.observe(waits, now);
    for (const [call, wait] of waits) {
      const { arrivedAtMs = now, told = [] } = this.#told.get(call) ?? {};
      if (now - (told.at(-1)?.atMs ?? arrivedAtMs) < this.#config.timeouts.commentMs) continue;
      told.push({ atMs: now, expected: this.#expected.of(call, wait, now) });
    }
  }

  #dispatched(call: CallId, now: number): void {
    this.#expected.dispatched(call, now);
    for (const each of this.#told.get(call)?.told ?? []) this.ended.push({ ...each, waitedMs: now - each.atMs });
    this.#told.delete(call);
  }
}

/** How long calls waited against the wait that they were told to expect, in virtual time. */
export function benchWaits(isQuick: boolean): void {
  const rows = LOADS.map((load) => {
    const ended = (isQuick ? [1] : [1, 2, 3]).flatMap((seed) => endedOf(STANDING[load], seed));
    return [load, ...figuresOf(ended)];
  });
  printTable(['load', 'comments', 'told', 'within p50', 'within p90', 'p50 told, s', 'p90 told, s', 'waited, s'], rows);
  say('Comments to calls that were dispatched later; medians of the seconds; within: of those told.');
}

type Load = (typeof STANDING)[(typeof LOADS)[number]];

function endedOf({ programs: { workload }, ratePerSecond, count, engines, machine }: Load, seed: number): Ended[] {
  const tellers: Teller[] = [];
  runWorld({
    programs: programs(WORKLOADS[workload], seed),
    maxPrograms: count,
    arrivals: { type: 'open', ratePerSecond, cv: 1 },
    seed,
    engines,
    engine: { preset: PRESETS[machine], blockSize: 16 },
    scheduler: (prefixOf) => {
      const teller = new Teller(prefixOf);
      tellers.push(teller);
      const { totals, views } = teller.scheduler;
      return { step: (event, now) => teller.step(event, now), totals, views };
    },
    alone: false,
    conditions: CONDITIONS.production,
    observer: { programEnded: () => undefined },
  });
  return tellers.flatMap(({ ended }) => ended);
}

function figuresOf(ended: readonly Ended[]): string[] {
  const told = ended.flatMap(({ expected, waitedMs }) => (expected === undefined ? [] : [{ ...expected, waitedMs }]));
  const share = (part: number, whole: number) => show(Math.round((100 * part) / whole), '%');
  const within = (key: keyof ExpectedWait) => share(told.filter((each) => each.waitedMs <= each[key]).length, told.length); // prettier-ignore
  const middle = (key: keyof (typeof told)[number]) => show(percentile(told.map((each) => each[key] / 1000), 0.5)); // prettier-ignore
  return [String(ended.length), share(told.length, ended.length), within('p50Ms'), within('p90Ms'), middle('p50Ms'), middle('p90Ms'), middle('waitedMs')]; // prettier-ignore
}
