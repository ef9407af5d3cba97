import { PRESETS, type Preset } from '../../sim/index.js';
import { printTable, ratio, show } from '../numbers.js';
import { ORDERS } from './orders.js';
import { jobOf, play, type Order, type Setting } from './play.js';
import { fileOf, WORKFLOWS } from './workflows.js';

const A100 = PRESETS['llama-3.1-8b-a100'];
/** A cache that holds everything, one as on a smaller card or beside others, and one of a few prompts. */
const CACHES: readonly (readonly [string, Preset])[] = [
  ['432k tokens', A100],
  ['64k tokens', { ...A100, kvTokens: 64_000 }],
  ['16k tokens', { ...A100, kvTokens: 16_000 }],
];
/** Lines under way in all of a simple client; the others have them on each engine. */
const PARALLEL = 64;

/**
 * Helium's workflows in several orders: the time of each, over that of the plan. Without needs, all lines are ready at once: no
 * pass that only lets lines start sooner can gain more.
 */
export function benchPrograms(quick: boolean): void {
  for (const [cache, preset] of quick ? CACHES.slice(2) : CACHES)
    for (const engines of quick ? [1] : [1, 2]) {
      const rows = WORKFLOWS.map((workflow) => {
        const job = jobOf(fileOf(workflow));
        const of = (name: string) => {
          const parallel = name === 'simple client' ? PARALLEL / engines : PARALLEL;
          const setting: Setting = { preset, engines, parallel };
          return play(job, ORDERS[name] ?? (() => undefined), setting);
        };
        const own = of('planned');
        const none = job.files.map(() => []);
        const free = { ...job, plan: { ...job.plan, needs: none, dependents: none } };
        const bound = play(free, ORDERS['planned'] as Order, { preset, engines, parallel: PARALLEL });
        const others = Object.keys(ORDERS)
          .slice(1)
          .map((name) => ratio(of(name).seconds / own.seconds));
        return [
          workflow.name,
          show(own.seconds),
          show(100 * own.hits, '%'),
          ratio(bound.seconds / own.seconds),
          ...others,
        ];
      });
      const names = Object.keys(ORDERS).slice(1);
      printTable([`${engines} of cache ${cache}`, 'planned, s', 'hits', 'without needs', ...names], rows);
    }
}
