import { readFileSync, statSync } from 'node:fs';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { fileSchema, type Spec } from './spec.js';
import { findingsOf, pathText, WorkloadError, type Finding, type Path } from './problems.js';

/** Far more than any description; a wrong path must not fill the memory. */
const BYTES_MAX = 1_048_576;
/** Nodes that aliases may multiply into: enough for a shared block or two, too few for a bomb. */
const ALIASES_MAX = 100;

/** Workloads of a file, checked: each mixture names workloads that there are, and none contains itself. */
export interface WorkloadFile {
  /** Which of them the file is about. */
  readonly name: string;
  /** Those of the file and the built-in ones. */
  readonly specs: ReadonlyMap<string, Spec>;
}

/** Reads a YAML file of workloads. @throws WorkloadError with all that is wrong */
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
  const result = fileSchema.safeParse(valuesOf(document, file), { reportInput: true });
  if (!result.success) return fail(findingsOf(result.error.issues));
  const own = new Map(Object.entries(result.data.workloads));
  const specs = new Map([...builtIn, ...own]);
  const findings = [...own.keys()].flatMap((name) => [
    ...(builtIn.has(name) ? [{ path: ['workloads', name], message: 'is the name of a built-in workload' }] : []),
    ...mixtureFindings(name, specs),
  ]);
  const name = result.data.workload ?? (own.size === 1 ? [...own.keys()][0] : undefined);
  if (name === undefined)
    findings.push({ path: ['workload'], message: `must be one of ${[...own.keys()].join(', ')}` });
  else if (!own.has(name))
    findings.push({
      path: ['workload'],
      message: `is no workload of this file; these are ${[...own.keys()].join(', ')}`,
    });
  if (name === undefined || findings.length > 0) return fail(findings);
  return { name, specs };
}

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

/** Parts of a mixture that there are not, and the way on which it comes back to itself. */
function mixtureFindings(name: string, specs: ReadonlyMap<string, Spec>): Finding[] {
  const spec = specs.get(name);
  if (spec?.kind !== 'mixture') return [];
  return Object.keys(spec.of).flatMap((part): Finding[] => {
    const path = ['workloads', name, 'of', part];
    if (!specs.has(part)) return [{ path, message: 'is no workload of this file, nor a built-in one' }];
    const circle = wayTo(name, part, specs, new Set());
    return circle === undefined ? [] : [{ path, message: `comes back to itself: ${[name, ...circle].join(' > ')}` }];
  });
}

/** Mixtures from one to another, each naming the next. @param seen those that were looked at before */
function wayTo(
  target: string,
  from: string,
  specs: ReadonlyMap<string, Spec>,
  seen: Set<string>,
): readonly string[] | undefined {
  if (from === target) return [from];
  const spec = specs.get(from);
  if (spec?.kind !== 'mixture' || seen.has(from)) return undefined;
  seen.add(from);
  for (const part of Object.keys(spec.of)) {
    const rest = wayTo(target, part, specs, seen);
    if (rest !== undefined) return [from, ...rest];
  }
  return undefined;
}

/** Of the key, or of the nearest one above it that the file has. */
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
