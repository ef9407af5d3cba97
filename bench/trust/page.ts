import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { say } from '../numbers.js';
import { KINDS, ourRatios, THEIRS } from './policies.js';
import { servers, summaries, wholeOverKernels, type Rows } from './steps.js';

const PAGE = 'docs/TRUST.md';

/** The tables of the page that cost nothing, by the names of their marks. */
export const STEP_TABLES: Readonly<Record<string, () => Rows>> = {
  summaries,
  servers,
  whole: wholeOverKernels,
};

/** Writes all tables of docs/TRUST.md anew, between their marks. The text around them is written by hand. */
export async function writePage(): Promise<void> {
  const tables = {
    ...Object.fromEntries(Object.entries(STEP_TABLES).map(([name, make]) => [name, make()])),
    policies: policies(await ourRatios()),
  };
  let page = readFileSync(PAGE, 'utf8');
  for (const [name, table] of Object.entries(tables)) page = withTable(page, name, table);
  writeFileSync(PAGE, await format(page, { parser: 'markdown', printWidth: 120 }));
  say(`wrote ${PAGE}`);
}

/** Policies against first come, first served on AgentServeSim's loads, and ours of the same kind on our loads. */
function policies(ours: Awaited<ReturnType<typeof ourRatios>>): Rows {
  const loads = [...THEIRS.map(({ load }) => `AgentServeSim: ${load}`), ...ours.map(({ load }) => `maitred: ${load}`)];
  return {
    columns: ['load', 'first come, first served, s', ...KINDS.map(({ what }) => what)],
    rows: loads.map((load, at) => {
      const theirs = THEIRS[at];
      const own = ours[at - THEIRS.length];
      const ratios = KINDS.map(({ theirs: name }, kind) =>
        theirs === undefined ? own?.ratios[kind] : (theirs.seconds[name] ?? NaN) / theirs.stock,
      );
      return [
        load,
        Math.round(theirs?.stock ?? own?.seconds ?? NaN).toLocaleString('en-US'),
        ...ratios.map((value) => (value === undefined || Number.isNaN(value) ? '-' : value.toFixed(2))),
      ];
    }),
  };
}

const marked = (name: string) => new RegExp(`(<!-- ${name} -->)[^]*?(<!-- end -->)`);

/** The page with this table between its marks. @throws Error where the page has no such marks */
export function withTable(page: string, name: string, { columns, rows }: Rows): string {
  if (!marked(name).test(page)) throw new Error(`${PAGE} has no marks of ${name}`);
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return page.replace(
    marked(name),
    (_, before: string, after: string) => `${before}\n\n${lines.join('\n')}\n\n${after}`,
  );
}
