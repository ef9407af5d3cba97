import { breakEvenOf, type Cost, type PlaceVerdict } from '../../lab/index.js';
import {
  BEYOND,
  failingText,
  isLossy,
  keepsUp,
  mostOf,
  runsOf,
  shortText,
  tooFewRunsText,
  openText,
  tryText,
  worseText,
} from '../../loadtest/report/index.js';
import { isOpen, isSustained, type Played } from './verdict.js';

const [NONE, UNKNOWN] = ['none of these loads', 'not known'];

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
    const isLeast = own[end] === undefined || isFar(played[end - 1], played[end]);
    const least = own[0] === false && !own.includes(true) ? NONE : UNKNOWN;
    return end === 0 ? least : `${end === -1 ? 'all ' : isLeast ? 'at least ' : ''}${upTo}`;
  });
  if (document.ab === null) return [...(isAsked ? [`Sustained: ${reaches[0]}.${next}`] : []), ...counsel];
  const told =
    new Set(reaches).size === 1
      ? `${reaches[0]} by both`
      : reaches.map((reach, at) => `${document.targets[at]?.name} ${reach}`).join('; ');
  const isKnown = signs.some(([lowest]) => lowest === true);
  const sustained = isOpen(document) && isKnown ? [`Sustained: ${told}.`] : [];
  const compared = played.filter((each) => !each.document.targets.some(isLossy));
  if (compared.length === 0) return [`Too many programs failed to tell which is better. ${failingText(document)}`];
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
  const isSure = ({ measure }: Cost) => isKept && measure !== 'kind' && measure !== 'failed';
  return {
    ...verdict,
    losses: isKept ? verdict.losses : [],
    rows: verdict.rows.map((row) => ({ ...row, price: row.price.filter(isSure) })),
  };
}

/** The loads again that did worse than higher ones, or what tells of the lowest, as what is too much there is so above; none: all is told. */
function counselOf(played: readonly Played[], signs: readonly (readonly (boolean | undefined)[])[]): string[] {
  const worse = played.filter((_, at) => signs.some((own) => own[at] === false && own.slice(at).includes(true)));
  if (worse.length > 0) return [worseText(worse.map(({ document }) => document))];
  const isOpenAt = (own: (typeof signs)[number], at: number) =>
    own[at] === undefined && !own.slice(0, at).includes(false);
  const open = played.find((_, at) => signs.some((own) => isOpenAt(own, at)));
  return open === undefined ? shortText(played.map(({ document }) => document)) : [openText(open.document)];
}

/** How far apart to look between loads that were tried. */
const FAR = 1.5;

/** Whether there are loads to try between these. */
function isFar(below: Played | undefined, above: Played | undefined): boolean {
  if (below === undefined || above === undefined) return true;
  return above.value > FAR * below.value && (isOpen(above.document) || above.value > below.value + 1);
}

/** The loads between which to look on: around the first that is not sustained, or above all. */
function nextOf(played: readonly Played[], from: number): string {
  const [below, above] = from === -1 ? [played.at(-1)] : [played[from - 1], played[from]];
  const { document } = (above ?? below) as Played;
  if (document.targets.some(({ completed }) => completed === 0) || !isFar(below, above)) return '';
  const low = below?.value ?? 0;
  const high =
    above === undefined
      ? BEYOND * low
      : Math.min(above.value, Math.max(mostOf(above.value, document.targets), FAR * low));
  const runs = runsOf(played.map((each) => each.document));
  return ` ${tryText(low || high / BEYOND, high, runs, isOpen(document))}`.trimEnd();
}
