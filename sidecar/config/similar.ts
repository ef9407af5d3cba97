/** Shortest word that can stand for a longer one. */
const BEGINNING_CHARS_MIN = 3;

/** Suggests the word of `known` that resembles `word`, as the end of a sentence; '' if none is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const best = similarTo(word, known);
  return best === undefined ? '' : `; did you mean ${best}?`;
}

/** The word of `known` nearest to `word`, at most a third of its letters away; otherwise one that begins with it, or with which it begins. */
export function similarTo(word: string, known: readonly string[]): string | undefined {
  const reach = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let least = reach + 1;
  for (const candidate of known) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase(), least);
    if (edits < least) [best, least] = [candidate, edits];
  }
  if (best !== undefined || word.length < BEGINNING_CHARS_MIN) return best;
  const [given, ...names] = [word, ...known].map((each) => each.toLowerCase()) as [string, ...string[]];
  const isBeginning = (each: string) => each.length >= BEGINNING_CHARS_MIN && given.startsWith(each);
  return known[names.findIndex((each) => each.startsWith(given) || isBeginning(each))];
}

/** Edit distance (insert, delete or replace one character, or swap two), by Levenshtein's table, one row at a time. */
function distance(a: string, b: string, enough: number): number {
  if (Math.abs(a.length - b.length) >= enough) return enough;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replace, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
