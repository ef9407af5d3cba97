import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completion, fakeEngine } from '../sidecar/gateway/world.js';
import { lineOf } from '../sidecar/batches/service.js';
import { run } from '../support/command-line.js';
import { folderOf } from '../support/folder.js';

export const command = (...args: string[]) => run(args);
export const idsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id)
    .toSorted();

export const needing = (id: string, of: string) => lineOf(id, `\${${of}}`, { after: [of] });
export const LINES = [needing('b', 'a'), lineOf('a'), lineOf('c', 'bad'), needing('d', 'c')];

export async function stage(lines: readonly string[] = LINES) {
  const folder = folderOf({ 'in.jsonl': lines.join('\n') });
  const [file, out] = [join(folder, 'in.jsonl'), join(folder, 'out.jsonl')];
  const engine = await fakeEngine((response, seen, ...rest) => {
    if (!seen.body.includes('bad')) return completion()(response, seen, ...rest);
    response.statusCode = 400;
    response.end('no');
  });
  const batch = (...more: string[]) =>
    command('batch', 'run', file, '--target', `${engine.url}/v1`, '-o', out, ...more);
  return { engine, file, out, batch };
}
