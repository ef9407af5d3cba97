import { readFileSync } from 'node:fs';
import { LineCounter, isMap, parseDocument, type Document } from 'yaml';
import { ConfigError, type Path } from './problems.js';

/** Larger than any configuration; a wrong path must not exhaust memory. */
const BYTES_MAX = 1_048_576;
/** Nodes that YAML aliases may expand to: enough for a shared block or two, too few for a bomb. */
const ALIASES_MAX = 100;

export interface ConfigFile {
  /** Parsed values, not yet checked against the schema. */
  readonly values: Record<string, unknown>;
  /** `FILE:LINE` of the key or of its nearest ancestor in the file; undefined if the file has neither. */
  originOf(path: Path): string | undefined;
}

/** Reads one YAML 1.2 mapping. An empty file is an empty mapping. @throws ConfigError */
export function readConfigFile(file: string): ConfigFile {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), {
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
  if (document.contents !== null && !isMap(document.contents)) throw fault(file, 'must be a mapping of keys to values');
  return { values: toValues(document, file), originOf: (path) => originIn(document, path, at) };
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw fault(file, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (bytes.length > BYTES_MAX) throw fault(file, `is longer than ${BYTES_MAX} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fault(file, 'is not UTF-8 text');
  }
}

function toValues(document: Document, file: string): Record<string, unknown> {
  try {
    return (document.toJS({ maxAliasCount: ALIASES_MAX }) ?? {}) as Record<string, unknown>;
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
