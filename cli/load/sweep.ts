import { gridLines } from '../../lab/index.js';
import {
  BRING_BACK,
  figureGrid,
  leftText,
  sloName,
  sureText,
  sustains,
  targetsText,
  textOf,
  writeReport,
  type LoadDocument,
  type Summarized,
} from '../../loadtest/report/index.js';
import { ConfigError } from '../../sidecar/config/index.js';
import { number, plain } from '../../text/index.js';
import { conclusionOf } from './conclusion.js';
import type { Load } from './read-load.js';
import { carried, isOpen, placeIn, type Played, playedOf, valueOf } from './verdict.js';

export type Play = (load: Load, signal: AbortSignal) => Promise<LoadDocument>;

/**
 * Plays loads one after the other: prints a verdict for each when it has ended, and at the end from which of them on the
 * second target is better, or up to which one target sustains them, with a table. A signal ends the sweep.
 */
export async function sweep(loads: readonly Load[], play: Play, signal: AbortSignal): Promise<LoadDocument[]> {
  const [first] = loads as readonly [Load];
  const { json, out, err } = first.report;
  const screen = json === '-' ? err : out;
  screen.write(plain(`${first.title}\n\n`));
  const documents: LoadDocument[] = [];
  const played: Played[] = [];
  const tell = (sentences: readonly string[]) => screen.write(plain(sentences.map((each) => `${each}\n`).join('')));
  let fault: unknown;
  let stopped: string | undefined;
  for (const load of loads) {
    let document: LoadDocument;
    try {
      document = carried(await play(load, signal), played);
    } catch (error) {
      // Earlier loads are reported all the same, and are no error of usage.
      fault = documents.length > 0 && error instanceof ConfigError ? new Error(error.message) : error;
      break;
    }
    documents.push(document);
    if (!document.complete) break;
    const left = document.targets.map(leftText).find((text) => text !== undefined);
    if (left !== undefined) {
      // Further loads would be measured without it.
      const place = placeIn(document);
      tell([`${place}: not known: ${left}.`]);
      [fault, stopped] = [new Error(`${left} ${place.toLowerCase()}`), BRING_BACK];
      break;
    }
    const one = playedOf(document);
    played.push(one);
    tell([one.sentence]);
  }
  tell(slosOf(played));
  if (documents.length > 0) {
    const isWhole = played.length === loads.length;
    stopped ??=
      fault instanceof Error
        ? `Stopped: ${fault.message}.`
        : isWhole
          ? undefined
          : 'Stopped before all loads were measured.';
    const text = (width: number) => sweepText(documents, played, stopped, width);
    await writeReport(first.report, text, { version: 1, complete: stopped === undefined, loads: documents });
  }
  if (fault !== undefined) throw fault as Error;
  return documents;
}

const PERHAPS = 'met but perhaps not sustained';

/** Under which loads each objective was met, with its figures. */
function slosOf(played: readonly Played[]): string[] {
  const [first] = played;
  if (first === undefined) return [];
  return first.document.slo.map((slo, at) => {
    const results: Record<string, string[]> = { met: [], [PERHAPS]: [], 'met but not sustained': [], missed: [] };
    for (const one of played) {
      const { met = false, value = null } = one.document.slo[at] ?? {};
      const own = one.document.targets.filter(({ name }) => slo.target === null || name === slo.target);
      const signs = own.map((target) => sustains(target, isOpen(one.document)));
      const kept = signs.includes(false) ? 'met but not sustained' : signs.includes(undefined) ? PERHAPS : 'met';
      results[met ? kept : 'missed']?.push(`${one.value} (${value === null ? 'not measured' : number(value)})`);
    }
    const told = Object.entries(results).flatMap(([word, texts]) =>
      texts.length === 0 ? [] : [`${word} ${placesIn(first.document, texts)}`],
    );
    return `${sloName(slo, first.document.ab !== null)}: ${told.join('; ')}.`;
  });
}

/** Such as `at 1 and 2 a second`. */
function placesIn(document: Summarized, loads: readonly string[]): string {
  const listed = new Intl.ListFormat('en-GB').format(loads);
  return isOpen(document) ? `at ${listed} a second` : `with ${listed} at a time`;
}

/** One of a kind, as their figures differ, with the loads that cause it. */
function warningsOf(documents: readonly Summarized[]): string[] {
  const all = documents.flatMap((document) =>
    document.warnings.map((text) => ({ document, text, kind: text.replaceAll(/ [\d.,]+/g, '') })),
  );
  return all.flatMap((one) => {
    const same = all.filter(({ kind }) => kind === one.kind);
    const where =
      same.length < documents.length
        ? ` ${placesIn(
            one.document,
            same.map(({ document }) => String(valueOf(document))),
          )}`
        : '';
    return same[0] === one ? [`Warning${where}: ${one.text}`] : [];
  });
}

export function sweepText(
  documents: readonly Summarized[],
  played: readonly Played[],
  stopped: string | undefined,
  width: number,
): string {
  const conclusion = stopped === undefined ? conclusionOf(played) : [stopped];
  const targets = played.flatMap(({ document }) => document.targets);
  const isRate = played.some(({ document }) => isOpen(document));
  const labels = played.flatMap(({ value, document }) =>
    document.targets.map(({ name }, _, { length }) => (length > 1 ? `${value}  ${name}` : String(value))),
  );
  const grid = figureGrid(targets, [isRate ? 'rate' : 'at a time', ...labels]);
  const notes = [...warningsOf(documents), ...sureText(played.map(({ document: { ab } }) => ab))];
  return textOf([conclusion, targetsText(documents[0]?.targets ?? []), gridLines(grid, width), notes]);
}
