import { breakEvenOf, type Cost, type PlaceVerdict } from '../../lab/index.js';
import {
  isLossy,
  keepsUp,
  repeatText,
  runsOf,
  shortText,
  tooFewRunsText,
  tooFewText,
} from '../../loadtest/report/index.js';
import { isOpen, isSustained, type Played } from './verdict.js';

const NONE = 'none of these loads';

/**
 * From which load on the second target is better, of those that one of both sustains; of one target, up to which load it
 * keeps up and meets every objective; last, what would tell more.
 */
export function conclusionOf(played: readonly Played[]): string[] {
  const [{ document }] = played as readonly [Played];
  const signs = document.targets.map((_, at) => played.map((one) => isSustained(one, at)));
  const counsel = counselOf(played, signs);
  const from = played.findIndex((_, at) => signs.some((own) => own[at] !== true));
  const next = counsel.length === 0 ? nextOf(played, from) : '';
  const isAsked = (isOpen(document) || document.slo.length > 0) && (from !== 0 || counsel.length === 0);
  const reaches = signs.map((own) => {
    const end = own.findIndex((sign) => sign !== true);
    const upTo = played.at(Math.max(0, end) - 1)?.verdict.place.replace(/^At |^With /, 'up to ');
    return end === 0 ? NONE : `${end === -1 ? 'all ' : own[end] === undefined ? 'at least ' : ''}${upTo}`;
  });
  if (document.ab === null) return [...(isAsked ? [`Sustained: ${reaches[0]}.${next}`] : []), ...counsel];
  const told = new Set(reaches).size === 1 ? `${reaches[0]} by both` : reaches.map((reach, at) => `${document.targets[at]?.name} ${reach}`).join('; '); // prettier-ignore
  const isKnown = reaches.some((reach) => reach !== NONE);
  const sustained = isOpen(document) && isKnown ? [`Sustained: ${told}.`] : [];
  const compared = played.filter((each) => !each.document.targets.some(isLossy));
  if (compared.length === 0) return ['Too many programs failed to tell which is better.'];
  const kept = compared.filter(({ document: { targets } }) => targets.some(keepsUp));
  if (kept.length === 0)
    return [`Neither target keeps up with any of these loads, so they cannot tell which is better.${next}`, ...counsel];
  const served = kept.map(certain);
  const nameOf = (choice: number) => document.targets[choice]?.name ?? '';
  const { choice, sentence } = breakEvenOf(served, nameOf, played.length);
  const unsure = choice === 0 ? kept.map((each) => each.document).filter(({ ab }) => ab?.runs_to_tell) : [];
  if (unsure.length > 0 && counsel.length === 0) return [sentence, ...sustained, tooFewRunsText(unsure)];
  // Below the lowest load less waits, and what loses here would lose there.
  const isOpenYet = choice === 0 && from !== 0 && served.every(({ losses }) => losses.length === 0);
  return [`${sentence}${isOpenYet ? next : ''}`, ...sustained, ...counsel];
}

/** Where nothing is better, only what is certainly lost, where both keep up. */
function certain({ verdict, document: { targets } }: Played): PlaceVerdict {
  if (verdict.better.length > 0) return verdict;
  const isKept = targets.every(keepsUp);
  const isSure = ({ measure, factor }: Cost) => isKept && measure !== 'kind' && factor > 0;
  return { ...verdict, losses: isKept ? verdict.losses : [], rows: verdict.rows.map((row) => ({ ...row, price: row.price.filter(isSure) })) }; // prettier-ignore
}

/** The number of programs that tells of the lowest load, as what is too much there is so above; none: all is told. */
function counselOf(played: readonly Played[], signs: readonly (readonly (boolean | undefined)[])[]): string[] {
  const isOpenAt = (own: (typeof signs)[number], at: number) => own[at] === undefined && !own.slice(0, at).includes(false); // prettier-ignore
  const open = played.find((_, at) => signs.some((own) => isOpenAt(own, at)));
  return open === undefined ? shortText(played.map(({ document }) => document)) : [tooFewText(open.document)];
}

/** How far beyond the loads that were tried to look on. */
const BEYOND = 4;
/** How far apart to look between those that were tried. */
const FAR = 1.5;

/** Times the programs that ended a second where too many came, above which nothing is sustained: those at its ends are among them. */
const ENDED = 1.25;

/** The loads between which to look on: around the first that is not sustained, or above all. */
function nextOf(played: readonly Played[], from: number): string {
  const values = played.map(({ value }) => value);
  const at = from === -1 ? played.length : from;
  const { over = [], document: { targets } = { targets: [] } } = played[at] ?? {};
  const isOver = over.length > 0 && over.length === targets.length;
  const ended = isOver ? Math.max(...targets.map((each) => each.programs_per_second ?? 0)) : Infinity;
  const most = Math.min(values[at] ?? BEYOND * (values.at(-1) ?? 0), ENDED * ended);
  const [low, high] = [values[at - 1] ?? most / BEYOND, most];
  if (high <= FAR * low || targets.some(({ completed }) => completed === 0)) return '';
  const repeat = repeatText(Math.max(...played.map(({ document: { targets } }) => runsOf(targets))));
  const isRate = played.every(({ document }) => isOpen(document));
  const [first, last] = [low, high].map((value) => isRate ? Number(value.toPrecision(2)) : Math.max(1, Math.round(value))) as [number, number]; // prettier-ignore
  return last - first > Number(!isRate) ? ` Try --${isRate ? 'rate' : 'concurrency'} ${first}..${last}${repeat}.` : '';
}
