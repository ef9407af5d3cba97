import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FaultyBatch } from '../../../plans/index.js';
import { readPlan } from '../../../sidecar/batches/input.js';
import { folderOf } from '../../support/folder.js';
import { line } from '../../plans/lines.js';

const LIMITS = { linesMax: 50_000, lineBytes: 1e8, passes: [] };
const planned = (content: string | Buffer, lineBytes = LIMITS.lineBytes) => {
  const path = join(folderOf({}), 'in.jsonl');
  writeFileSync(path, content);
  return readPlan(path, { ...LIMITS, lineBytes });
};

describe('a large input file', () => {
  // Names of any length would take longer than a test may.
  it('is compared with mistyped names of an id’s usual length alone, and names the nearest of many', async () => {
    const ids = Array.from({ length: 999 }, (_, at) => `line-${at}-`.padEnd(500, 'a'));
    const junk = Array.from({ length: 300 }, (_, at) => `\${${`${at}-`.padEnd(500, 'b')}}`).join('');
    const last = line('last', { after: [...ids, 'summary'], content: `\${sumary} ${junk}` });
    const { warnings } = await planned([...ids.map((id) => line(id)), line('summary'), last].join('\n'));
    expect(warnings).toHaveLength(100);
    expect(warnings[0]?.message.length).toBeLessThan(200);
    expect(warnings[0]?.message).toContain('${summary}');
  });

  it('has placeholders only within one text, and by their escaped names', async () => {
    const last = line('last', { after: ['a"b'], content: 'of ${a"b} costs ${' });
    const { warnings } = await planned(
      [line('a"b'), `${last.slice(0, -1)},"if":{"$ref":"a\\"b","contains":"}"}}`].join('\n'),
    );
    expect(warnings).toEqual([]);
  });

  it('is refused for a mention of any line that is not needed, among whatever else is mentioned', async () => {
    const code = Array.from({ length: 300 }, (_, at) => `\${v${at}}`).join('');
    const faults = planned(
      [line('x', { content: `${code} \${y}` }), line('z', { content: '${y}' }), line('y'), line('y')].join('\n'),
    ).catch((error: unknown) => error);
    const message = expect.stringContaining('${y}, here and on 1 more line, names a line') as string;
    expect(((await faults) as FaultyBatch).problems).toMatchObject([
      { code: 'missing_after', line: 1, param: 'after', message },
      { code: 'duplicate_custom_id', line: 4 },
    ]);
  });

  it.each([
    ['{"custom_id":"b", "method" "POST"}', 'column 28'],
    ['hello', 'hello'],
    ['{"custom_id": "b', 'column 17'],
    ['{"custom_id":"b"}{"custom_id":"c"}', ' at column 18: newline missing?'],
  ])('that is no JSON is told with the reason and the place: %s', async (text, place) => {
    const fault = planned(`${line('a')}\n${text}`).catch((error: unknown) => error);
    expect(((await fault) as FaultyBatch).problems).toMatchObject([
      { line: 2, message: expect.stringContaining(place) as string },
    ]);
  });

  it.each([
    ['a JSON array', `[\n${line('a')},\n${line('b')}\n]`, "jq -c '.[]'"],
    ['an array in a line that is too long', `[${line('a')}, ${'"é", '.repeat(5)}`, "jq -c '.[]'", 100],
    ['an object over several lines', `\uFEFF${JSON.stringify(JSON.parse(line('a')), null, 2)}`, 'jq -c .'],
    ['text in another encoding', Buffer.from(line('a'), 'utf16le'), 'UTF-8'],
    ['no text', Buffer.from('%PDF-1.4\n%\xe2\xe3\n1 0 obj\n', 'latin1'), 'UTF-8'],
  ])('of another kind has one fault for all of it: %s', async (_, content, told, lineBytes = LIMITS.lineBytes) => {
    const fault = planned(content, lineBytes).catch((error: unknown) => error);
    const message = expect.stringContaining(told) as string;
    expect(((await fault) as FaultyBatch).problems).toMatchObject([{ code: 'invalid_file', message }]);
  });

  it('with an endless id in a line that cannot be read is refused for the line', async () => {
    const faults = planned(`{"custom_id":"${'a'.repeat(20_000_000)}", x`).catch((error: unknown) => error);
    expect(await faults).toBeInstanceOf(FaultyBatch);
    expect(((await faults) as FaultyBatch).problems).toMatchObject([{ code: 'invalid_json_line', line: 1 }]);
  });
});
