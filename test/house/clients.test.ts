import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { listFiles, readText } from '../support/tree.js';

/** Reads as much of TOML as a page may show: tables and keys with JSON values. */
function checkToml(text: string): void {
  for (const line of text.split('\n').map((each) => each.trim())) {
    const value = /^[\w.-]+ = (.+)$/.exec(line)?.[1];
    if (value !== undefined) JSON.parse(value);
    else expect(line).toMatch(/^(|#.*|\[[\w.-]+\])$/);
  }
}

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = { json: JSON.parse, yaml: parse, toml: checkToml };

describe('docs/clients', () => {
  const pages = listFiles().filter((file) => /^docs\/clients\/(?!README)[^/]+\.md$/.test(file));
  const blocks = pages.flatMap((page) =>
    [...readText(page).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
      page,
      language,
      text,
    })),
  );

  it('has blocks of configuration that parse', () => {
    const parsed = blocks.filter(({ language }) => language in PARSERS);
    expect(new Set(parsed.map(({ language }) => language)).size).toBe(3);
    for (const { page, language, text } of parsed) expect(() => PARSERS[language]?.(text), page).not.toThrow();
  });

  it('says in every page where the gateway is, and what was tried', () => {
    const lacking = pages.filter(
      (page) => !/127\.0\.0\.1:8080[\s\S]*(\*\*Tried with\*\*|Not tried)/.test(readText(page)),
    );
    expect(lacking).toEqual([]);
  });

  it('has an index that lists every page', () => {
    const index = readText('docs/clients/README.md');
    expect(pages.length).toBeGreaterThanOrEqual(13);
    expect(pages.filter((page) => !index.includes(`](${page.slice('docs/clients/'.length)})`))).toEqual([]);
  });

  it.each(['codex/config.toml', 'opencode/opencode.json', 'mini-swe-agent/maitred.yaml'])(
    'shows what examples/%s sets',
    (file) => {
      const lines = (text: string) =>
        text
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#'))
          .join('\n');
      const example = lines(readText(`examples/${file}`));
      expect(blocks.some(({ text }) => lines(text) === example)).toBe(true);
    },
  );
});
