import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../sidecar/config/load.js';
import { folderOf } from '../../support/folder.js';
import { lineOf, pathsIn, problemsIn, write } from './problems.js';

describe('file', () => {
  it.each([
    ['empty', ''],
    ['a comment', '# nothing yet\n'],
    ['a section with nothing in it', 'listen:\nengines:\n'],
    ['a byte order mark', '\uFEFFembedded: 0\n'],
    ['carriage returns', 'listen:\r\n  port: 8080\r\n'],
  ])('takes %s', (_, text) => {
    expect(loadConfig({ file: write(text) })).toEqual(loadConfig({}));
  });

  it.each([
    ['a list at the root', '- 1'],
    ['text at the root', 'hello'],
    ['two documents', 'embedded: 1\n---\nembedded: 2\n'],
    ['a repeated key', 'embedded: 1\nembedded: 2\n'],
    ['a tab as indentation', 'listen:\n\tport: 1\n'],
    ['an open bracket', 'engines: ['],
    ['an unknown tag', 'embedded: !secret 1'],
    ['an alias of nothing', 'embedded: *nothing'],
    ['an alias bomb', `a: &a [x,x,x,x,x,x,x,x,x]\n${bomb('abcdefgh')}`],
    ['bytes that are not UTF-8', Uint8Array.of(0x61, 0x3a, 0xff)],
  ])('refuses %s', (_, text) => {
    expect(pathsIn(text)).toContain('');
  });

  const list = 'engines:\n  - url: http://a:1\n    window: 8\n';
  it.each<[string, string, number, RegExp]>([
    ['a repeated key', 'listen:\n  port: 1\n  port: 2\n', 3, /key port .*after line 2/],
    ['a key between two columns', `${list}   models: [m]\nlog: {}\n`, 4, /column 4, the keys above it in 1 or 5/],
    ['a key in the column of the dash', `${list}  kind: vllm\n`, 4, /column 3, the keys above it in 1 or 5/],
    ['an item that is indented more', `${list}    - url: http://b:1\n`, 4, /column 5, the items above it in 3/],
    ['a key that is indented more', 'listen:\n  host: a\n    port: 1\n', 3, /column 5, the keys above it in 1 or 3/],
    ['a tab', `${list}\tmodels: [m]\n`, 4, /a tab/],
    ['a tab after spaces', `${list}  \tmodels: [m]\n`, 4, /a tab/],
    ['no colon', 'listen:\n  host: a\n  port 8080\nlog: {}\n', 3, /no key with a colon/],
    ['a colon in a value', 'log:\n  level: info: x\n', 2, /quotes/],
    ['a quote that stays open', 'log:\n  level: "info\nlisten: {}\n', 2, /a quote opens/],
    ['brackets that stay open over lines', 'listen: {port: 1\n  engines: [', 2, /a bracket/],
    ['a bracket that stays open', 'engines: [{url: http://a:1}\nlog: {}\n', 2, /a bracket/],
    ['JSON without a comma', '{"embedded": 1 "log": {}}', 1, /a comma/],
    ['text after a value', 'log:\n  level: "info"rmation\n', 2, /more after its value/],
    ['a mark of a merge', '<<<<<<< HEAD\nembedded: 1\n=======\n', 1, /merge/],
    ['INI', '[listen]\nport = 8080\n', 2, /not YAML/],
    ['two documents', 'embedded: 1\n---\nembedded: 2\n', 2, /---/],
  ])('says on which line is %s, once', (_, text, line, told) => {
    const [problem, ...more] = problemsIn({ file: write(text) });
    expect(more).toEqual([]);
    expect([lineOf(problem), problem?.message]).toEqual([line, expect.stringMatching(told)]);
    expect(problem?.excerpt?.filter((each) => each.startsWith('>'))).toHaveLength(1);
  });

  it('shows the lines around a fault, without secrets', () => {
    const text = `auth:\n  keys:\n    - sk-abc\n   x: 1\nadmin: {token: hunter2\nengines:\n  - url: http://u:pw1@a\n   apiKey: |\n`;
    const cases = [text, text.slice(text.indexOf('admin')), text.slice(text.indexOf('engines'))];
    const shown = cases.flatMap((each) => problemsIn({ file: write(each) })[0]?.excerpt ?? []);
    expect(shown).toHaveLength(8);
    expect(shown.join('\n')).not.toMatch(/sk-abc|hunter2|pw1/);
  });

  it.each([
    ['  tokn: hunter2', '  tokn: …'],
    ['  - {url: http://a:80, apiKy:hunter2, id: x}', '  - {url: http://a:80, apiKy:…'],
    ['  {"pasword": "hunter2"}', '  {"pasword": …'],
    ['  ключ: hunter2', '  ключ: …'],
    ['  "tokn ": hunter2', '  "tokn ": …'],
    ['  tokn!: hunter2', '  tokn!: …'],
    ['# a comment', '# a comment'],
    ['  host: a # first', '  host: a # first'],
  ])('shows the values of keys that it knows: %s', (line, shown) => {
    const [problem] = problemsIn({ file: write(`listen:\n${line}\nlisten:\n`) });
    expect(problem?.excerpt?.[0]).toBe(`  2 | ${shown}`);
  });

  it('shows a fault beside a line of any length at once', () => {
    const [problem] = problemsIn({ file: write(`listen:\n  # ${'a'.repeat(1_000_000)}\nlisten:\n`) });
    expect(problem?.excerpt).toHaveLength(2);
  });

  it('names the nearest of equal keys', () => {
    const found = problemsIn({ file: write('listen:\n  port: 1\n  port: 2\nadmin:\n  port: 1\n  port: 2\n') });
    expect(found.map(({ message }) => /line \d/.exec(message)?.[0])).toEqual(['line 2', 'line 5']);
  });

  it.each(['token: *hunter2', 'token: !hunter2 x', 'token: |\n    hunter # mine\n   port: 1'])(
    'tells nothing of a secret: %s',
    (text) => {
      expect(JSON.stringify(problemsIn({ file: write(`admin:\n  ${text}\n`) }))).not.toMatch(/hunter/);
    },
  );

  it('refuses a missing file, a folder, and what is no text', () => {
    const told = [`${write('')}.none`, folderOf({}), write(Uint8Array.of(0xff, 0xfe))].map((file) =>
      problemsIn({ file }),
    );
    expect(told.map(([problem]) => problem?.message)).toEqual(
      [/no such/, /folder/, /UTF-8/].map((text) => expect.stringMatching(text) as string),
    );
  });
});

/** Nine references per level: nine to the power of the number of names. */
function bomb(names: string): string {
  const lines = Array.from(names)
    .slice(1)
    .map((name, index) => `${name}: &${name} [${`*${names[index] ?? ''},`.repeat(9)}]`);
  return lines.join('\n');
}
