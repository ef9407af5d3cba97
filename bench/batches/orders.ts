import { sharedBlocks } from '../../plans/index.js';
import { makeRandom } from '../numbers.js';
import type { Job, Order } from './play.js';

const NONE = new Float64Array();

/** The ready line with the least number. */
function least(ready: Iterable<number>, of: (index: number) => number): number | undefined {
  let [best, value] = [undefined as number | undefined, Infinity];
  for (const index of ready) {
    const own = of(index);
    if (own < value) [best, value] = [index, own];
  }
  return best;
}

/** The place of each line in an order. */
const ranksOf = (order: ArrayLike<number>): number[] => {
  const ranks: number[] = [];
  Array.from(order).forEach((index, rank) => (ranks[index] = rank));
  return ranks;
};

const once = <T>(make: (job: Job) => T): ((job: Job) => T) => {
  const made = new WeakMap<Job, T>();
  return (job) => {
    const value = made.get(job) ?? make(job);
    made.set(job, value);
    return value;
  };
};

const planned = once(({ plan }) => ranksOf(plan.order));
const shuffled = once(({ files }) => {
  const random = makeRandom(1);
  return files.map(() => random());
});
const systems = once(({ lines }) =>
  ranksOf(
    lines
      .map(({ body }, index) => [(body['messages'] as { content: string }[])[0]?.content ?? '', index] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([, index]) => index),
  ),
);
const operators = once(({ files }) => {
  const names = [...new Set(files.map(({ operator }) => operator))];
  return files.map(({ operator }) => names.indexOf(operator));
});

/** Blocks that the prompts of two lines begin with in common. */
const sharedBy = ({ outlines }: Job, a: number, b: number): number =>
  sharedBlocks(outlines[a]?.blocks ?? NONE, outlines[b]?.blocks ?? NONE);

/** Orders of the papers' comparisons, and that of the plan. */
export const ORDERS: Readonly<Record<string, Order>> = {
  planned: (job, { ready, engine, engines }) => {
    const ranks = planned(job);
    const part = Math.ceil(ranks.length / engines);
    return least(ready, (index) => {
      const rank = ranks[index] ?? 0;
      const own = Math.floor(rank / part) === engine;
      return own ? rank : 2 * ranks.length - rank;
    });
  },
  'planned, in one part': (job, { ready }) => least(ready, (index) => planned(job)[index] ?? 0),
  /** LangGraph's batch: whatever is ready, in no order. */
  random: (job, { ready }) => least(ready, (index) => shuffled(job)[index] ?? 0),
  /** One query after the other. */
  'by query': ({ files }, { ready, inFlight }) => {
    const query = inFlight.length > 0 ? files[inFlight[0] ?? 0]?.query : undefined;
    const fit = [...ready].filter((index) => query === undefined || files[index]?.query === query);
    return least(fit, (index) => index);
  },
  /** All lines of one operator, then those of the next. */
  'by operator': (job, { ready, inFlight }) => {
    const of = (index: number): number => operators(job)[index] ?? 0;
    const next = least(ready, of);
    return next === undefined || inFlight.some((index) => of(index) !== of(next)) ? undefined : next;
  },
  'longest shared prefix': (job, { ready, last }) =>
    last === undefined ? least(ready, (index) => index) : least(ready, (index) => -sharedBy(job, index, last)),
  'system prompt': (job, { ready }) => least(ready, (index) => systems(job)[index] ?? 0),
  /** The file's order, as a client with a pool of connections sends it. */
  'simple client': (_, { ready }) => least(ready, (index) => index),
};
