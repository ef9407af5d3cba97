import { breakEvenOf } from '../../lab/index.js';
import { isOpen, isOverloaded, keepsUp, type Played, programsToTell, rises, roundUp, sustains } from './verdict.js';

/**
 * From which load on the second target is better, of those that one of both sustains; of one target, up to which load it
 * keeps up and meets every objective; last, what would tell more.
 */
export function conclusionOf(played: readonly Played[]): string[] {
  const rising = rises(played.map(({ load }) => load));
  const counsel = counselOf(played, rising);
  const [{ document }] = played as readonly [Played];
  if (document.ab === null) return counsel ?? (rising ? sustainedOf(played) : []);
  const served = played.filter((each) => each.document.targets.some(keepsUp)).map(({ verdict }) => verdict);
  const nameOf = (choice: number) => document.targets[choice]?.name ?? '';
  return [breakEvenOf(served, nameOf, rising ? played.length : undefined).sentence, ...(counsel ?? [])];
}

/** The number of programs that tells of every load; undefined: all is told. */
function counselOf(played: readonly Played[], rising: boolean): string[] | undefined {
  const top = rising ? played.findLastIndex(sustains) : -1;
  // Nothing is sustained above an overload.
  const overload = played.findIndex(({ document }, at) => rising && at > top && isOverloaded(document));
  const open = played.slice(0, overload === -1 ? undefined : overload).flatMap(({ load, document }, at) => {
    const isBelied = at < top && isOverloaded(document);
    const twice = roundUp((2 * Math.max(...document.targets.map(({ programs }) => programs))) / document.runs);
    const programs = Math.max(programsToTell(load, document), isBelied ? twice : 0);
    return programs > 0 ? [{ programs, value: load.value }] : [];
  });
  if (open.length === 0) return undefined;
  const most = Math.max(...open.map(({ programs }) => programs));
  const values = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(open.map(({ value }) => String(value)));
  const limit = played[0]?.load.options.durationMs === Infinity ? '' : ', and no --duration';
  return [`Too few programs to tell whether ${values} a second can be sustained: use --programs ${most}${limit}.`];
}

function sustainedOf(played: readonly Played[]): string[] {
  const [first] = played as [Played];
  if (!isOpen(first.load) && first.document.slo.length === 0) return [];
  const from = played.findIndex(({ document: { targets, slo } }) => !targets.every(keepsUp) || slo.some(({ met }) => !met)); // prettier-ignore
  const upTo = (at: number) => (played.at(at)?.verdict.place ?? '').replace(/^At |^With /, 'up to ');
  const told = from === -1 ? `all ${upTo(-1)}` : from === 0 ? 'none of these loads' : upTo(from - 1);
  const values = played.map(({ load }) => load.value ?? 0);
  const at = from === -1 ? played.length : from;
  const [low = 0, high = 0] = [(values[0] ?? 0) / BEYOND, ...values, BEYOND * (values.at(-1) ?? 0)].slice(at);
  const isTold = high > FAR * low && played[at]?.document.targets.every(({ completed }) => completed > 0) !== false;
  return [`Sustained: ${told}.${isTold ? tryText(low, high, isOpen(first.load)) : ''}`];
}

/** How far beyond the loads that were tried to look on. */
const BEYOND = 4;
/** How far apart to look between those that were tried. */
const FAR = 1.5;

function tryText(low: number, high: number, isRate: boolean): string {
  const round = (value: number) => (isRate ? Number(value.toPrecision(2)) : Math.max(1, Math.round(value)));
  const [from, to] = [round(low), round(high)];
  return to - from > Number(!isRate) ? ` Try --${isRate ? 'rate' : 'concurrency'} ${from}..${to}.` : '';
}
