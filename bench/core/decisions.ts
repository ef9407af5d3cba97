import { millis, Scheduler, TENANTS_NAMES, type Command, type Event } from '../../src/index.js';
import { makeBalancer } from '../../loadbalancer/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import { mean, percentile, printTable, say, show } from '../numbers.js';
import { arrived, CAPACITY, ENGINES, finished, joined, Load, WINDOW, settings } from './load.js';

const ROWS = 1_000_000;
const TENANTS = 300;
/** Lengths of the queue, decisions measured, and decisions before them. */
const FULL = { queued: [1, 1000, 100_000], pinned: 100_000, tenantCalls: 10_000, decisions: 50_000, warmUp: 20_000 };
const QUICK = { queued: [1, 5000], pinned: 10_000, tenantCalls: 1000, decisions: 2000, warmUp: 2000 };

export function benchDecisions(quick: boolean): void {
  const { queued: lengths, pinned: pins, tenantCalls, decisions, warmUp } = quick ? QUICK : FULL;
  say(`${ENGINES} engines with a window of ${WINDOW}, all full; policy and balancer by default. Microseconds of one decision: an
answer ends, the next call is dispatched, a new one arrives, due timers fire. Gate: ${show(CAPACITY)} KV tokens an engine, so
that tokens are what is short.\n`);
  const rows: string[][] = [];
  for (const gate of [true, false]) {
    for (const queued of lengths) {
      const name = `${show(queued)} queued, gate ${gate ? 'on' : 'off'}`;
      rows.push([name, 'maitred', ...timesOf(newScheduler(), gate, queued, 2 * queued + warmUp, decisions)]);
    }
  }
  rows.push([`${show(pins)} pinned to a full engine`, 'maitred', ...summary(pinned(pins, decisions))]);
  for (const gate of quick ? [true] : [true, false])
    for (const tenants of TENANTS_NAMES) {
      const times = timesOf(newScheduler({ tenants }), gate, tenantCalls, 2 * warmUp, decisions, TENANTS);
      const name = `${show(tenantCalls)} queued of ${TENANTS} tenants, gate ${gate ? 'on' : 'off'}`;
      rows.push([name, `maitred, ${tenants}`, ...times]);
    }
  printTable(['queue', 'scheduler', 'p50 µs', 'p99 µs', 'p99.9 µs', 'mean µs'], rows);
}

const newScheduler = (policy?: Parameters<typeof settings>[1]) =>
  new Scheduler(settings(ROWS, policy), makeBalancer(loadConfig({}).balancer));

function timesOf(
  desk: Scheduler,
  gate: boolean,
  queued: number,
  warmUp: number,
  decisions: number,
  tenants = 1,
): string[] {
  const load = new Load(desk, gate, tenants);
  load.fill(queued);
  for (let i = 0; i < warmUp; i += 1) load.decide();
  return summary(Array.from({ length: decisions }, () => load.decide()));
}

/** Calls flow over three engines, while very many wait for the cache of a fourth engine, which is full. */
function pinned(pins: number, decisions: number): number[] {
  const scheduler = newScheduler();
  let nowMs = 0;
  const tell = (event: Event): Command[] => scheduler.step(event, millis((nowMs += 0.01)));
  tell(joined('full', false));
  for (let i = 0; i < pins; i += 1) {
    tell(arrived(`first${i}`, `p${i}`, 4000));
    tell(finished(`first${i}`, 4000));
  }
  for (let i = 0; i < WINDOW; i += 1) tell(arrived(`holds${i}`, `h${i}`, 4000));
  for (let i = 0; i < pins; i += 1) tell(arrived(`waits${i}`, `p${i}`, 4000));
  for (let i = 1; i < ENGINES; i += 1) tell(joined(`open${i}`, false));
  return Array.from({ length: decisions }, (_, i) => {
    const startedAt = performance.now();
    const commands = tell(arrived(`flows${i}`, `f${i % 1000}`, 500));
    tell(finished(`flows${i}`, 500));
    const micros = (performance.now() - startedAt) * 1000;
    if (!commands.some((command) => command.type === 'dispatch')) throw new Error('the call did not flow');
    return micros;
  });
}

function summary(micros: readonly number[]): string[] {
  return [0.5, 0.99, 0.999].map((p) => show(percentile(micros, p))).concat(show(mean(micros)));
}
