import { describe, expect, it } from 'vitest';
import { listFiles, readText } from '../support/tree.js';

/** Spelt so that this file does not hold what it looks for. */
const join = (...parts: string[]) => parts.join('');
const UNFINISHED = new RegExp(
  `\\b(${[join('TO', 'DO'), join('FIX', 'ME'), join('X', 'XX'), join('HA', 'CK')].join('|')})\\b`,
);
const MACHINE = new RegExp(
  `(^|[\\s"'\`(=:])(${['work', 'home', 'root', 'Users', 'tmp'].map((name) => join('/', name)).join('|')})/\\w`,
);

describe('the tree', () => {
  const files = listFiles();
  const texts = files.filter(
    (file) => file !== 'package-lock.json' && /\.(ts|js|mjs|json|md|ya?ml)$|\/run$/.test(file),
  );

  it('is found', () => {
    expect(files).toContain('test/house/tree.test.ts');
    expect(files.every((file) => !file.startsWith('node_modules/'))).toBe(true);
  });

  it.each([
    ['mark of unfinished work', UNFINISHED],
    ['path of one machine', MACHINE],
  ])('holds no %s', (_, pattern) => {
    const found = texts.flatMap((file) =>
      readText(file)
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

  it('links only to files that are there', () => {
    const broken = texts
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => {
        const folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/') + 1) : '';
        const links = [...readText(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map((match) => match[1]!);
        return links
          .filter((link) => !exists(files, new URL(link, `file:///${folder}`).pathname.slice(1)))
          .map((link) => `${file} -> ${link}`);
      });
    expect(broken).toEqual([]);
  });
});

/** Whether a path names a file, or a folder that holds one. */
const exists = (files: readonly string[], path: string) =>
  files.some((file) => file === path || file.startsWith(path.endsWith('/') ? path : `${path}/`));
