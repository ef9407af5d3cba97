import { millis, Scheduler, type Event } from '../../src/index.js';
import { makeBalancer } from '../../loadbalancer/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import { printTable, say, show } from '../numbers.js';
import { arrived, finished, joined, settings } from './load.js';

/**
 * The process that fills a process table and measures its heap after each part. Run with --expose-gc. Ids are generated
 * here, as long as a gateway's own, so that their strings count with the rows.
 */
const programs = Number(process.argv[2]);
const scheduler = new Scheduler(settings(programs), makeBalancer(loadConfig({}).balancer));
let nowMs = 0;
const tell = (event: Event) => scheduler.step(event, millis((nowMs += 0.5)));
const idOf = (i: number) => `default ${i.toString(16).padStart(36, '0')}`;

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

for (let i = 0; i < 4; i += 1) tell(joined(`e${i}`, true));
const empty = heapBytes();
for (let i = 0; i < programs; i += 1) {
  const call = `c${i}`;
  tell(arrived(call, idOf(i), 4000));
  tell(finished(call, 4000));
}
const rows = scheduler.views.programCount;
if (rows !== programs) throw new Error(`the table holds ${rows} rows of ${programs}`);
const idle = heapBytes();
say(
  'Bytes of heap a program, its id included; each has had one call, and a second one waits or runs in the last row.\n',
);
const waiting = Math.min(100_000, programs);
for (let i = 0; i < waiting; i += 1) tell(arrived(`d${i}`, idOf(i), 4000));
printTable(
  ['programs', 'bytes each'],
  [
    [`${show(programs)} idle`, show((idle - empty) / programs)],
    [`${show(waiting)} of them active: more each`, show((heapBytes() - idle) / waiting)],
  ],
);
