import { printTable, say, show } from '../../../bench/numbers.js';
import type { Answer, Verdict } from '../../../bench/soak/exchange.js';
import type { RequestRecord } from '../../../sim/server/stats.js';
import type { Ask } from './calls.js';
import type { Phase } from './scene.js';

const EXAMPLES = 5;

/** What came of the kills of one kind in one phase. */
export class Tally {
  kills = 0;
  readonly looks: Record<Verdict, number> = { whole: 0, told: 0, broken: 0, silent: 0, hung: 0, left: 0 };
  /** Answers that say they are whole, and have not the text that was to come, or are of several answers. */
  wrong = 0;
  /** Calls that engines completed more often than their client asked. */
  doubled = 0;
  /** Calls that keep engines busy, which did not look as they should. */
  bystanders = 0;
  /** The longest time until all was free again, milliseconds. */
  freeMsMax = 0;
  readonly examples: string[] = [];
  /** The errors that were told, each once. */
  readonly errors = new Set<string>();

  constructor(
    readonly victim: string,
    readonly phase: Phase,
  ) {}

  answered(ask: Ask, answer: Answer): void {
    this.looks[answer.verdict] += 1;
    if (answer.verdict === 'told') this.errors.add(`${answer.status} ${answer.error}`);
    if (answer.verdict !== 'whole' || (answer.text === ask.text && answer.ids.size === 1)) return;
    this.wrong += 1;
    this.example(`${JSON.stringify(answer.text)} for ${JSON.stringify(ask.text)}`);
  }

  /** @param asked how often */
  executed(records: readonly RequestRecord[], asked: number): void {
    const completed = records.filter(({ sequences }) => sequences.some(({ state, generatedTokens, outputTokens }) => state === 'finished' && generatedTokens === outputTokens)); // prettier-ignore
    if (completed.length > asked) this.doubled += 1;
  }

  /** Others must look like this, one each. */
  bystood(answers: readonly Answer[], expected: readonly Verdict[]): void {
    const found = answers.map(({ verdict }) => verdict).sort();
    if (found.join() === [...expected].sort().join()) return;
    this.bystanders += 1;
    this.example(`others: ${found.join()}`);
  }

  free(ms: number): void {
    this.freeMsMax = Math.max(this.freeMsMax, ms);
  }

  example(text: string): void {
    if (this.examples.length < EXAMPLES) this.examples.push(text);
  }

  /** What must be nothing. */
  get faults(): object {
    const { looks, wrong, doubled, bystanders, examples } = this;
    return { silent: looks.silent, hung: looks.hung, wrong, doubled, bystanders, examples };
  }
}

export const NO_FAULTS = { silent: 0, hung: 0, wrong: 0, doubled: 0, bystanders: 0, examples: [] };

export function printTallies(tallies: readonly Tally[]): void {
  say('');
  printTable(
    ['killed', 'phase', 'kills', 'served', 'told', 'broken', 'silent', 'hung', 'wrong', 'doubled', 'others', 'free after ms'],
    tallies.map(({ victim, phase, kills, looks, wrong, doubled, bystanders, freeMsMax }) => [
      victim,
      phase,
      ...[kills, looks.whole, looks.told, looks.broken, looks.silent, looks.hung, wrong, doubled, bystanders].map(String),
      show(freeMsMax),
    ]),
  ); // prettier-ignore
  for (const { victim, phase, errors } of tallies)
    for (const error of errors) say(`${victim}, ${phase}, told: ${error}`);
}
