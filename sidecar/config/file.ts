import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { ConfigError, type Path } from './problems.js';

/** Larger than any configuration; a wrong path must not exhaust memory. */
const BYTES_MAX = 1_048_576;

/** A parsed YAML 1.2 or JSON document. */
export interface YamlFile<T = unknown> {
  /** Parsed values, not yet checked against the schema. An empty document is null. */
  readonly values: T;
  /** `FILE:LINE` of the key or of its nearest ancestor in the file; undefined if the file has neither. */
  readonly originOf: (path: Path) => string | undefined;
}

/** Reads one YAML mapping. An empty file is an empty mapping. @throws ConfigError */
export function readConfigFile(file: string): YamlFile<Record<string, unknown>> {
  const parsed = parseYaml(file, readBytes(file));
  const values = parsed.values ?? {};
  if (!isMapping(values)) throw fault(file, 'must be a mapping of keys to values');
  return { ...parsed, values };
}

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses the content of a file. @throws ConfigError */
function parseYaml(file: string, bytes: Buffer): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(decode(file, bytes), {
    lineCounter: lines,
    version: '1.2',
    stringKeys: true,
    prettyErrors: false,
  });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    throw new ConfigError(
      faults.map(({ pos, message }) => ({ path: '', message: firstLine(message), origin: at(pos[0]) })),
    );
  return { values: toValues(document, file), originOf: (path) => originIn(document, path, at) };
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw fault(file, code === 'ENOENT' ? 'no such file' : `cannot be read: ${message}`);
  }
}

function decode(file: string, bytes: Buffer): string {
  if (bytes.length > BYTES_MAX) throw fault(file, `is longer than ${BYTES_MAX} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fault(file, 'is not UTF-8 text');
  }
}

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
