import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The repository's own folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const FOREIGN = new Set(['node_modules', 'dist', 'coverage', '.git']);

/** Every file of the project, as a path from the root with forward slashes. */
export function listFiles(folder = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (FOREIGN.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(path) : [relative(ROOT, path).split(sep).join('/')];
  });
}

export const readText = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The fields that the tables of a document list: the first column, where a row may have several. */
export const fieldsTold = (text: string): string[] =>
  [...text.matchAll(/^\| (`[^|]*`) +\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, field = '']) => field),
  );

/** A TypeScript file's syntax tree. */
export function parseSource(file: string, text = readText(file)): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
}

/** The imports, re-exports and dynamic imports of a module, types included, as written. */
export function listImports(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}
