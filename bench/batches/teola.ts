import { PRESETS } from '../../sim/index.js';
import { printTable, ratio, show } from '../numbers.js';
import { ORDERS } from './orders.js';
import { jobOf, play, type Order } from './play.js';
import { fileOf, textOf, type Step, type Workflow } from './workflows.js';

/**
 * Teola's three applications (its section 7), whose embeddings and searches take a fixed time elsewhere: as a batch, in which a step waits
 * only for what it reads, and as modules in a chain, each after the one before.
 */

/** Assumed times of a batch of embeddings, a search of vectors, one of the web, and a ranking of what was found. */
const MS = { embed: 100, search: 20, web: 400, rank: 80 };
const QUERIES = [1, 8, 64, 256];
const PARALLEL = 64;
const PRESET = PRESETS['llama-3.1-8b-a100'];

const elsewhere = (operator: string, ms: number, needs: readonly string[] = []): Step => ({
  operator,
  system: '',
  text: '',
  needs,
  outputTokens: 1,
  ms,
});
const asked = (operator: string, text: string, needs: readonly string[], outputTokens: number): Step => ({
  operator,
  system: textOf(`You are the ${operator.replace(/\d/, '')}`, 200),
  text,
  needs,
  outputTokens,
});
const each = (of: (at: number) => Step): Step[] => [0, 1, 2].map(of);
/** Reads three passages, each alone, and then writes from all notes. */
const reading = (question: string, found: string): Step[] => [
  ...each((at) => asked(`read${at}`, textOf(`${question} passage ${at}`, 500) + question, [found], 100)),
  asked('write', `${question}\${read0}\${read1}\${read2}`, ['read0', 'read1', 'read2'], 200),
];
const embedded = each((at) => elsewhere(`chunk${at}`, MS.embed));
const chunks = embedded.map(({ operator }) => operator);

const APPS: Readonly<Record<string, (question: string) => readonly Step[]>> = {
  'search engine': (question) => [
    asked('draft', question, [], 150),
    asked('judge', `${question}\${draft}`, ['draft'], 20),
    elsewhere('web', MS.web),
    asked('write', `${textOf(`${question} found`, 800)}${question}\${draft}`, ['draft', 'judge', 'web'], 250),
  ],
  'naive RAG': (question) => [
    ...embedded,
    elsewhere('question', MS.embed),
    elsewhere('search', MS.search, [...chunks, 'question']),
    ...reading(question, 'search'),
  ],
  'advanced RAG': (question) => [
    ...embedded,
    asked('expand', question, [], 120),
    ...each((at) => elsewhere(`question${at}`, MS.embed, ['expand'])),
    ...each((at) => elsewhere(`search${at}`, MS.search, [...chunks, `question${at}`])),
    elsewhere('rank', MS.rank, ['search0', 'search1', 'search2']),
    ...reading(question, 'rank'),
  ],
};

export function benchTeola(quick: boolean): void {
  const rows = Object.entries(APPS).map(([name, steps]) => {
    const gains = (quick ? [1] : QUERIES).map((queries) => {
      const seconds = (isChain: boolean): number => {
        const linesOf = (_: string, question: string): readonly Step[] =>
          steps(question).map((step, at, all) => {
            const before = isChain ? (all[at - 1]?.operator ?? []) : [];
            return { ...step, needs: [...new Set([...(step.needs ?? []), before].flat())] };
          });
        const workflow: Workflow = { name, queries, perDocument: 1, linesOf };
        const order = ORDERS[isChain ? 'simple client' : 'planned'] as Order;
        return play(jobOf(fileOf(workflow)), order, { preset: PRESET, engines: 1, parallel: PARALLEL }).seconds;
      };
      const [chain, planned] = [seconds(true), seconds(false)];
      return `${ratio(chain / planned)} (${show(chain)} s)`;
    });
    return [name, ...gains];
  });
  const heads = (quick ? [1] : QUERIES).map((queries) => `${queries} queries`);
  printTable(['chain over batch (chain)', ...heads], rows);
}
