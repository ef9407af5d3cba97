import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { ConfigError, type Path } from './problems.js';

/**
 * Reads one YAML 1.2 or JSON mapping, unchecked. An empty file is an empty mapping.
 * @returns with the origin of a key or of its nearest ancestor as `FILE:LINE`; undefined if the file has neither
 * @throws ConfigError
 */
export function readConfigFile(file: string) {
  const lines = new LineCounter();
  const document = parseDocument(read(file), { lineCounter: lines, version: '1.2', stringKeys: true, prettyErrors: false }); // prettier-ignore
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    throw new ConfigError(
      faults.map(({ pos, message }) => ({ path: '', message: firstLine(message), origin: at(pos[0]) })),
    );
  const values = toValues(document, file) ?? {};
  if (!isMapping(values)) throw fault(file, 'must be a mapping of keys to values');
  return { values, originOf: (path: Path) => originIn(document, path, at) };
}

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function read(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw fault(file, code === 'ENOENT' ? 'no such file' : `cannot be read: ${message}`);
  }
}

/** Throws also for YAML aliases that expand to too much, as in a bomb. */
function toValues(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw fault(file, error instanceof Error ? firstLine(error.message) : String(error));
  }
}

function originIn(document: Document, path: Path, at: (offset: number) => string): string | undefined {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { readonly range?: readonly number[] } | undefined;
    const start = node?.range?.[0];
    if (start !== undefined) return at(start);
  }
  return undefined;
}

const fault = (file: string, message: string) => new ConfigError([{ path: '', message, origin: file }]);
const firstLine = (text: string) => text.split('\n', 1)[0] ?? '';
