import { createHash } from 'node:crypto';
import { appendFile, rename, rm, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { parseJson } from '../../sidecar/apis/fields.js';
import type { Input } from '../../sidecar/batches/input.js';
import { readLines, type FileLine } from '../../sidecar/batches/line-file.js';
import { nameIn, type Paths } from '../../sidecar/batches/results.js';

/** Bytes that have a result's id. */
const ID_BYTES = 200;
const LINE_END = Buffer.from('\n');

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

/** A name for each line, which is another once the line or one that it needs has changed. */
export async function namesOf(file: string, { lines, needs, sorted }: Input): Promise<string[]> {
  const names: string[] = [];
  for await (const found of readLines(file, Infinity))
    for (const { offset, head } of found) {
      if (lines[names.length]?.offset !== offset) continue;
      const value = parseJson(head.toString());
      names.push(hashOf(value === undefined ? head.toString() : JSON.stringify(value)));
    }
  for (const index of sorted) {
    const needed = needs[index] ?? [];
    if (needed.length > 0) names[index] = hashOf([index, ...needed].map((each) => names[each]).join());
  }
  return names;
}

/** Moves results of lines that are no longer so to another file; none if all answers are of other lines. @returns how many */
export async function moveChanged({ output, errors }: Paths, names: readonly string[], to: string): Promise<number> {
  const known = new Set(names);
  const isResult = ({ head }: FileLine): boolean => nameIn(head) !== undefined;
  const isChanged = ({ head }: FileLine): boolean => !known.has(nameIn(head) ?? '');
  let moved = 0;
  for (const path of [output, errors].filter((path) => existsSync(path))) {
    let [changed, all] = [0, 0];
    for await (const lines of readLines(path, ID_BYTES)) {
      const results = lines.filter(isResult);
      all += results.length;
      changed += results.filter(isChanged).length;
    }
    if (path === output && changed === all && all > 0) return 0;
    if (changed === 0) continue;
    const kept = `${path}.new`;
    // Who may not read the one may not read the others.
    const { mode } = await stat(path);
    await rm(kept, { force: true });
    for await (const lines of readLines(path, Infinity)) {
      const bytesOf = (isMoved: boolean) =>
        Buffer.concat(
          lines.flatMap((line) =>
            line.isEnded && (isResult(line) && isChanged(line)) === isMoved ? [line.head, LINE_END] : [],
          ),
        );
      await appendFile(to, bytesOf(true), { mode });
      await appendFile(kept, bytesOf(false), { mode });
    }
    await rename(kept, path);
    moved += changed;
  }
  return moved;
}
