import { readFileSync, statSync } from 'node:fs';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { fileSchema, type Spec } from './spec.js';
import { findingsOf, pathText, WorkloadError, type Finding, type Path } from './problems.js';

/** Far more than any description, so that a wrong path cannot fill the memory. */
const BYTES_MAX = 1_048_576;
/** Nodes that aliases may multiply into: enough for a shared block or two, too few for a bomb. */
const ALIASES_MAX = 100;

/** The checked workloads of a file: each mixture names existing workloads, and none contains itself. */
export interface WorkloadFile {
  /** The workload that the file is for. */
  readonly name: string;
  /** The workloads of the file, and the built-in ones. */
  readonly specs: ReadonlyMap<string, Spec>;
}

/** Reads a YAML file of workloads. @throws WorkloadError with all problems */
export function readWorkloadFile(file: string, builtIn: ReadonlyMap<string, Spec>): WorkloadFile {
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
    throw new WorkloadError(
      faults.map(({ pos, message }) => ({ path: '', message: firstLine(message), origin: at(pos[0]) })),
    );
  const fail = (findings: readonly Finding[]): never => {
    throw new WorkloadError(
      findings.map(({ path, message }) => ({
        path: pathText(path),
        message,
        origin: originOf(document, path, at) ?? file,
      })),
    );
  };
  const values = valuesOf(document, file);
  const result = fileSchema.safeParse(values, { reportInput: true });
  const findings = result.success ? [] : findingsOf(result.error.issues);
  const told = new Set(findings.map(({ path }) => pathText(path)));
  findings.push(...nameFindings(values, builtIn).filter(({ path }) => !told.has(pathText(path))));
  if (!result.success || findings.length > 0) return fail(findings);
  const { workload, workloads } = result.data;
  return {
    name: workload ?? Object.keys(workloads)[0] ?? '',
    specs: new Map([...builtIn, ...Object.entries(workloads)]),
  };
}

/**
 * Problems with names: taken or unknown ones. The values may have other faults, so that all problems are reported at
 * once.
 */
function nameFindings(values: unknown, builtIn: ReadonlyMap<string, Spec>): Finding[] {
  const given = mappingOf(values);
  const own = Object.entries(mappingOf(given['workloads']));
  if (own.length === 0) return [];
  const parts: Parts = new Map([...builtIn, ...own].map(([name, spec]) => [name, partsOf(spec)]));
  const names = own.map(([name]) => name);
  const findings: Finding[] = names.flatMap((name) => [
    ...(builtIn.has(name) ? [{ path: ['workloads', name], message: 'is the name of a built-in workload' }] : []),
    ...mixtureFindings(name, parts),
  ]);
  const { workload } = given;
  if (workload === undefined && names.length > 1)
    findings.push({ path: ['workload'], message: `must be one of ${names.join(', ')}` });
  else if (typeof workload === 'string' && !names.includes(workload))
    findings.push({ path: ['workload'], message: `is no workload of this file; these are ${names.join(', ')}` });
  return findings;
}

/** For each workload, the names of the workloads that it mixes; none if it is not a mixture. */
type Parts = ReadonlyMap<string, readonly string[]>;

function partsOf(spec: unknown): readonly string[] {
  const { kind, of } = mappingOf(spec);
  return kind === 'mixture' ? Object.keys(mappingOf(of)) : [];
}

const mappingOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function readText(file: string): string {
  try {
    if (statSync(file).size > BYTES_MAX) throw new RangeError(`longer than ${BYTES_MAX} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw fault(file, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function valuesOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX }) ?? {};
  } catch (error) {
    throw fault(file, error instanceof Error ? firstLine(error.message) : String(error));
  }
}

/** Unknown parts of a mixture, and the path by which it contains itself. */
function mixtureFindings(name: string, parts: Parts): Finding[] {
  return (parts.get(name) ?? []).flatMap((part): Finding[] => {
    const path = ['workloads', name, 'of', part];
    if (!parts.has(part)) return [{ path, message: 'is no workload of this file, nor a built-in one' }];
    const circle = wayTo(name, part, parts, new Set());
    return circle === undefined ? [] : [{ path, message: `comes back to itself: ${[name, ...circle].join(' > ')}` }];
  });
}

/** A path of mixtures from one to another, each containing the next. @param seen mixtures already visited */
function wayTo(target: string, from: string, parts: Parts, seen: Set<string>): readonly string[] | undefined {
  if (from === target) return [from];
  if (seen.has(from)) return undefined;
  seen.add(from);
  for (const part of parts.get(from) ?? []) {
    const rest = wayTo(target, part, parts, seen);
    if (rest !== undefined) return [from, ...rest];
  }
  return undefined;
}

/** The place in the file of the key, or of its nearest existing parent. */
function originOf(document: Document, path: Path, at: (offset: number) => string): string | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true) as { readonly range?: readonly number[] } | undefined;
    const start = node?.range?.[0];
    if (start !== undefined) return at(start);
  }
  return undefined;
}

const fault = (file: string, message: string) => new WorkloadError([{ path: '', message, origin: file }]);
const firstLine = (text: string) => text.split('\n', 1)[0] ?? '';
