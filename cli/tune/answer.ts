import { pairedRatio, verdictOf, type Pair } from '../../lab/index.js';
import { number, percent, ratio, textTable } from '../../text/index.js';
import { valuesText, type Values } from '../sim/axes.js';
import { meanOf, ratiosOf, sentenceOf, type Ratios } from '../sim/comparison.js';
import { fragmentOf } from '../sim/fragment.js';
import type { Plan } from '../sim/plan.js';
import type { RunReport } from '../sim/run.js';
import type { Setting } from './candidates.js';
import { isMet, valueOf, type Objective } from './objective.js';
import { ofVariant } from './search.js';

/** The facts of an answer. Variant 0 is the present setting; 1 is the chosen one, if it is another. */
export interface Facts {
  /** Of the check: its programs, seeds and margin. */
  readonly plan: Plan;
  /** The present setting and the chosen one. */
  readonly settings: readonly [Setting, Setting];
  readonly objectives: readonly Objective[];
  readonly tried: number;
  /** The setting that came nearest to the objectives on the first half, and its runs there. */
  readonly closest: { readonly setting: Setting; readonly runs: readonly RunReport[] };
  /** Runs of the half on which the search was made, and of the other one. */
  readonly seen: readonly RunReport[];
  readonly unseen: readonly RunReport[];
}

export interface Answer extends Facts {
  /** Whether the check confirms it: all objectives are met, and programs are no later than under the present setting. */
  readonly holds: boolean;
  readonly verdict: string;
  readonly sentences: readonly string[];
}

/** The measures whose growth is the price of a setting. */
const COSTS = [
  ['the slowest 1 % of programs', ({ program_seconds }: Ratios) => program_seconds.p99],
  ['the median first token', ({ ttft_seconds }: Ratios) => ttft_seconds.p50],
  ['the slowest 1 % of first tokens', ({ ttft_seconds }: Ratios) => ttft_seconds.p99],
  ['time per output token', ({ seconds_per_token }: Ratios) => seconds_per_token.mean],
] as const;

export function answerOf(facts: Facts): Answer {
  const { settings: [present, chosen], objectives, unseen, plan } = facts; // prettier-ignore
  const isSame = present === chosen;
  const own = ofVariant(unseen, isSame ? 0 : 1);
  const missed = objectives.filter((objective) => !isMet(objective, own));
  const ratios = isSame ? undefined : comparedOn(facts);
  const isLater = ratios !== undefined && verdictOf(ratios.program_seconds.mean, plan.margin) === 'later';
  const isFound = objectives.every((objective) => isMet(objective, facts.closest.runs));
  const holds = isFound && missed.length === 0 && (!isLater || objectives.length > 0);
  return {
    ...facts,
    holds,
    verdict: isFound ? verdictText(facts, missed, isLater) : 'no setting tried meets the objectives',
    sentences: sentencesOf(facts, ratios),
  };
}

function verdictText({ settings: [present, chosen] }: Facts, missed: readonly Objective[], isLater: boolean): string {
  const name = present === chosen ? 'the present setting' : nameOf(chosen);
  if (missed.length > 0)
    return `${name} misses ${missed.map(({ text }) => text).join(' and ')} on the second half, which the search has not seen`;
  if (isLater)
    return `${name} does not hold on the second half, which the search has not seen: programs are later there than under the present setting`;
  return `${name} holds on the second half, which the search has not seen`;
}

/** Ratios on the unseen half. Where chance plays no part, the interval of mean program times is that over programs. */
function comparedOn({ plan, unseen }: Facts): Ratios {
  const ratios = ratiosOf(unseen, { first: [0], other: [1] });
  if (!plan.isExact) return ratios;
  const [one, other] = [0, 1].map((variant) => ofVariant(unseen, variant)[0]?.completions);
  const pairs = [...(one ?? [])].flatMap(([id, { seconds }]): Pair[] => {
    const twin = other?.get(id);
    return twin === undefined ? [] : [[seconds, twin.seconds]];
  });
  return { ...ratios, program_seconds: { ...ratios.program_seconds, mean: pairedRatio(pairs) } };
}

function sentencesOf(facts: Facts, ratios: Ratios | undefined): string[] {
  const { plan, settings, objectives, unseen } = facts;
  const [present, chosen] = settings;
  const states = (variant: number) =>
    objectives.map(
      (objective) =>
        `${objective.text}: ${secondsText(valueOf(objective, ofVariant(unseen, variant)))}, ${isMet(objective, ofVariant(unseen, variant)) ? 'met' : 'MISSED'}`,
    );
  if (ratios === undefined) return [keepText(facts), ...states(0).map((text) => `Second half, ${text}.`)];
  const costs = COSTS.flatMap(([name, of]) =>
    verdictOf(of(ratios), plan.margin) === 'later' ? [`${name} ${ratio(of(ratios).ratio)}x`] : [],
  );
  return [
    sentenceOf(plan, unseen, { first: [0], other: [1] }, ratios, {
      name: `Take ${nameOf(chosen)}`,
      against: 'the present setting',
    }),
    `Interval: 95 %, over ${plan.isExact ? `${ratios.program_seconds.mean.pairs} programs of one run` : `${plan.seeds.length} seeds`}. The present setting is ${nameOf(present)}.`,
    ...states(1).map((text, at) => `Second half, ${text} (present setting: ${states(0)[at]?.split(': ')[1] ?? '-'}).`),
    costs.length > 0 ? `What it costs: ${costs.join(', ')}.` : 'What it costs: no time measured is certainly worse.',
  ];
}

function keepText({ settings: [present], objectives, tried, closest }: Facts): string {
  const missed = objectives.filter((objective) => !isMet(objective, closest.runs));
  if (missed.length === 0) return `Keep ${nameOf(present)}: none of ${tried - 1} other settings is certainly better.`;
  const values = missed.map((objective) => `${objective.text} was ${secondsText(valueOf(objective, closest.runs))}`);
  return `None of ${tried} settings meets the objectives on the first half; the closest was ${nameOf(closest.setting)}, where ${values.join(' and ')}. A lower load or more engines would do more.`; // prettier-ignore
}

const nameOf = ({ policy, balancer, window, gate }: Setting): string =>
  policy === 'pass-through' ? valuesText({ policy, balancer }) : valuesText({ policy, balancer, window, gate } as Values); // prettier-ignore

/** The answer as a YAML file: comments, and the settings. */
export function textOf(answer: Answer): string {
  const { verdict, sentences, settings } = answer;
  const [present, chosen] = settings;
  const shown = chosen.policy === 'pass-through' ? { ...chosen, window: undefined, gate: undefined } : chosen;
  const comments = [...sentences, `Verdict: ${verdict}.`, '', ...tableOf(answer), ''];
  const same = present === chosen ? ['The present settings:'] : [];
  return [...[...comments, ...same].map((line) => `# ${line}`.trimEnd()), ...fragmentOf(shown as Values), ''].join(
    '\n',
  );
}

function tableOf({ seen, unseen, settings: [present, chosen] }: Answer): string[] {
  const both = present === chosen ? [[0, 'present']] as const : ([[0, 'present'], [1, 'chosen']] as const); // prettier-ignore
  const rows = ([['first half', seen], ['second half', unseen]] as const).flatMap(([half, runs]) =>
    both.map(([variant, name]) => [`${half}, ${name}`, ...cellsOf(ofVariant(runs, variant))]),
  ); // prettier-ignore
  return textTable('', [{ heading: 'program, s', columns: ['mean', 'p99'] }, { heading: 'first token, s', columns: ['p50', 'p99'] }, { heading: '', columns: ['ms/token', 'cached', 'failed'] }], rows, 78); // prettier-ignore
}

function cellsOf(runs: readonly RunReport[]): string[] {
  const mean = (of: (run: RunReport) => number | null) => meanOf(runs.map(of));
  const perToken = mean((run) => run.seconds_per_token.mean);
  return [
    number(mean((run) => run.program_seconds.mean)),
    number(mean((run) => run.program_seconds.p99)),
    number(mean((run) => run.ttft_seconds.p50)),
    number(mean((run) => run.ttft_seconds.p99)),
    number(perToken === null ? null : 1000 * perToken),
    percent(mean((run) => run.prefix_hit_rate)),
    number(mean((run) => run.failed)),
  ];
}

const secondsText = (seconds: number | null): string =>
  seconds === null ? 'not measured' : seconds < 1 ? `${number(1000 * seconds)} ms` : `${number(seconds)} s`;

/** The answer for programs. */
export function documentOf({
  holds,
  verdict,
  sentences,
  settings: [present, chosen],
  objectives,
  tried,
  seen,
  unseen,
  plan,
}: Answer): object {
  const half = (runs: readonly RunReport[]) =>
    runs.map(({ variant, ...run }) => ({ ...run, completions: undefined, setting: variant === 0 ? 'present' : 'chosen' })); // prettier-ignore
  return {
    version: 1,
    holds,
    verdict,
    sentences,
    present,
    chosen,
    yaml: `${fragmentOf(chosen).join('\n')}\n`,
    objectives: objectives.map((objective) => ({
      objective: objective.text,
      present_seconds: valueOf(objective, ofVariant(unseen, 0)),
      chosen_seconds: valueOf(objective, ofVariant(unseen, present === chosen ? 0 : 1)),
      met: isMet(objective, ofVariant(unseen, present === chosen ? 0 : 1)),
    })),
    settings_tried: tried,
    seeds: plan.seeds,
    first_half: half(seen),
    second_half: half(unseen),
  };
}
