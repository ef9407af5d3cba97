import { PRESETS, type Preset } from '../../sim/index.js';
import { printTable, ratio, show } from '../numbers.js';
import { ORDERS } from './orders.js';
import { jobOf, play, type Setting } from './play.js';
import { fileOf, WORKFLOWS } from './workflows.js';

const A100 = PRESETS['llama-3.1-8b-a100'];
/** A cache that holds everything, and one as on a smaller card or beside others. */
const CACHES: readonly (readonly [string, Preset])[] = [
  ['432k tokens', A100],
  ['64k tokens', { ...A100, kvTokens: 64_000 }],
];
/** Lines under way in all of a simple client; the others have them on each engine. */
const PARALLEL = 64;

/** Helium's workflows in several orders: the time of each, over that of the plan. */
export function benchPrograms(quick: boolean): void {
  for (const [cache, preset] of quick ? CACHES.slice(1) : CACHES)
    for (const engines of quick ? [1] : [1, 2]) {
      const rows = WORKFLOWS.map((workflow) => {
        const job = jobOf(fileOf(workflow));
        const of = (name: string) => {
          const parallel = name === 'simple client' ? PARALLEL / engines : PARALLEL;
          const setting: Setting = { preset, engines, parallel };
          return play(job, ORDERS[name] ?? (() => undefined), setting);
        };
        const own = of('planned');
        const others = Object.keys(ORDERS)
          .slice(1)
          .map((name) => ratio(of(name).seconds / own.seconds));
        return [workflow.name, show(own.seconds), show(100 * own.hits, '%'), ...others];
      });
      const names = Object.keys(ORDERS).slice(1);
      printTable([`${engines} of cache ${cache}`, 'planned, s', 'hits', ...names], rows);
    }
}
