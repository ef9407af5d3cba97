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
    (file) => file !== 'package-lock.json' && /\.(tsx?|js|mjs|json|md|ya?ml)$|\/run$/.test(file),
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

  it('opens no comment of a source with "What": a noun says it sooner', () => {
    const sources = texts.filter((file) => /^(?!test\/).*\.tsx?$/.test(file));
    const found = sources.filter((file) => /(^ *\* |\/\*\* |\/\/ )What /m.test(readText(file)));
    expect(found).toEqual([]);
  });

  it('lets Prettier lay out all but tables of numbers in benches', () => {
    const sources = texts.filter((file) => /^(?!bench\/).*\.(?:tsx?|mjs)$/.test(file));
    expect(sources.filter((file) => readText(file).includes('// prettier-' + 'ignore'))).toEqual([]);
  });

  it('links only to files that are there', () => {
    const documents = texts.filter((file) => file.endsWith('.md'));
    const broken = documents.flatMap((file) =>
      linksOf(file)
        .filter((link) => !exists(files, link))
        .map((link) => `${file} -> ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('links only to headings that are there, from documents and from texts of the product', () => {
    const broken = texts.flatMap((file) =>
      anchorsOf(file)
        .filter(({ target, heading }) => files.includes(target) && !headingsOf(target).includes(heading))
        .map(({ target, heading }) => `${file} -> ${target}#${heading}`),
    );
    expect(broken).toEqual([]);
  });

  it('leads from the README to every document', () => {
    const reached = new Set(['README.md']);
    for (const file of reached) if (file.endsWith('.md')) for (const link of linksOf(file)) reached.add(link);
    const documents = files.filter((file) => /^docs\/[^/]+$/.test(file));
    expect(documents.length).toBeGreaterThan(5);
    expect(documents.filter((file) => !reached.has(file))).toEqual([]);
  });

  it.each(['src', 'sidecar', 'workloads', 'sim', 'lab', 'loadtest'])(
    'has a reading guide in %s that names its folders',
    (room) => {
      const guide = readText(`${room}/index.ts`).split('*/', 1)[0]!;
      const folders = files.flatMap((file) => new RegExp(`^${room}/([^/]+/)`).exec(file)?.[1] ?? []);
      expect(folders).not.toEqual([]);
      expect([...new Set(folders)].filter((folder) => !guide.includes(folder))).toEqual([]);
    },
  );
});

/** Files and folders that a document links to, from the root. */
function linksOf(file: string): string[] {
  const folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/') + 1) : '';
  const links = [...readText(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map((match) => match[1]!);
  return links.map((link) => new URL(link, `file:///${folder}`).pathname.slice(1));
}

/** Headings that a file names: in links of a document, and as `docs/X.md#heading` anywhere. */
function anchorsOf(file: string): { readonly target: string; readonly heading: string }[] {
  const text = readText(file);
  const links = file.endsWith('.md') ? [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)] : [];
  return [
    ...links.map(([, path = '', heading = '']) => ({
      target: path === '' ? file : new URL(path, `file:///${file}`).pathname.slice(1),
      heading,
    })),
    ...[...text.matchAll(/\b((?:docs|lab|src)\/[\w/-]+\.md)#([\w-]+)/g)].map(([, target = '', heading = '']) => ({
      target,
      heading,
    })),
  ];
}

/** The anchors of a document's headings, as GitHub makes them. */
function headingsOf(document: string): string[] {
  const headings = readText(document)
    .replace(/^```[^]*?^```/gm, '')
    .matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Whether a path names a file, or a folder that holds one. */
const exists = (files: readonly string[], path: string) =>
  files.some((file) => file === path || file.startsWith(path.endsWith('/') ? path : `${path}/`));
