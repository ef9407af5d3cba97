import { readFileSync, statSync } from 'node:fs';
import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from 'yaml';
import { ConfigError, type Path } from './problems.js';
import { excerpt, yamlFault } from './yaml-fault.js';

/** Far more than any such file, so that a wrong path cannot fill the memory. */
const BYTES_MAX = 8 * 2 ** 20;

/**
 * Reads one YAML 1.2 or JSON mapping, unchecked. An empty file is an empty mapping.
 * @returns with the origin of a key or of its nearest ancestor as `FILE:LINE`; undefined if the file has neither
 * @throws ConfigError
 */
export function readConfigFile(file: string) {
  const counter = new LineCounter();
  const text = orFault(file, () => {
    if (statSync(file).size > BYTES_MAX) throw new RangeError(`it is longer than ${BYTES_MAX} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  });
  const document = parseDocument(text, { lineCounter: counter, version: '1.2', stringKeys: true, prettyErrors: false });
  const lineAt = (offset: number) => counter.linePos(offset).line;
  const lines = text.split(/\r?\n/);
  // A parser finds more faults after the first, which are no more once that is mended: least of all behind an open bracket.
  const found = [...document.errors, ...document.warnings];
  const first = found.find(({ message }) => message.startsWith('Flow ')) ?? found[0];
  const faults = found.filter((fault) => fault === first || fault.code === 'DUPLICATE_KEY');
  if (faults.length > 0)
    throw new ConfigError(
      faults.map((fault) => {
        const { message, line } = yamlFault(fault, lines, lineAt(fault.pos[0]) - 1);
        return { path: '', message, origin: `${file}:${line}`, excerpt: excerpt(lines, line) };
      }),
    );
  const values = orFault(file, (): unknown => document.toJS()) ?? {};
  if (!isMapping(values)) throw fileFault(file, 'must be keys and values in YAML or JSON, such as "key: value"');
  const originOf = (path: Path) => {
    const start = offsetOf(document, path);
    return start === undefined ? undefined : `${file}:${lineAt(start)}`;
  };
  return { values, originOf };
}

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws ConfigError also for YAML aliases that expand to too much, as in a bomb */
function orFault<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    // Ends in the name, which may be a secret.
    const isAlias = message.startsWith('Unresolved alias');
    const otherwise = isAlias
      ? 'a value that begins with * needs quotes'
      : `cannot be read: ${message.split('\n', 1)[0]}`;
    throw fileFault(file, UNREADABLE[code] ?? otherwise);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a folder: name the file in it',
  EACCES: 'cannot be read: this user has no permission to',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text: save it as UTF-8',
};

/** Where a key stands in the file, or an element of a list; otherwise its nearest ancestor. */
function offsetOf(document: Document, path: Path): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const holder = document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    const pair = isMap(holder) ? holder.items.find(({ key }) => isScalar(key) && key.value === last) : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    if (start !== undefined) return start;
  }
  return undefined;
}

/** A problem of a file as a whole. */
export const fileFault = (file: string, message: string) => new ConfigError([{ path: '', message, origin: file }]);
