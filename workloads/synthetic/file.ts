import type { z } from 'zod';
import { readFileSync, statSync, existsSync } from 'node:fs';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { issueText, UNKNOWN_KEY } from '../issue-text.js';
import { fileSchema, type Spec, specSchema, type SpecInput } from './spec.js';
import { BUILT_IN, PARTS } from './built-in.js';
import { compose } from './compose.js';
import type { Workload } from '../workload.js';

interface WorkloadProblem {
  /** Path of the key to change: `workloads.mine.turns.p95`; '' when no single key is at fault. */
  readonly path: string;
  readonly message: string;
  /** `FILE:LINE`, or the file. */
  readonly origin: string;
}

/** A workload cannot be used; carries every problem found. */
export class WorkloadError extends Error {
  override readonly name = 'WorkloadError';
  constructor(readonly problems: readonly WorkloadProblem[]) {
    super(
      problems
        .map(({ origin, path, message }) => [origin, path, message].filter((part) => part !== '').join(': '))
        // Text quoted from a file must not break its line, nor control a terminal.
        .map((line) => line.replaceAll(/\p{Cc}+/gu, ' '))
        .join('\n'),
    );
  }
}

type Path = readonly (string | number)[];

interface Finding {
  readonly path: Path;
  readonly message: string;
}

const pathText = (path: Path): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');

/** The schema's findings in our words. */
function findingsOf(issues: readonly z.core.$ZodIssue[]): Finding[] {
  return issues.flatMap((issue): Finding[] => {
    const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: [...path, key], message: UNKNOWN_KEY }));
    if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? issue.message }];
    if (issue.code !== 'invalid_union') return [{ path, message: issueText(issue) }];
    if (issue.input === undefined || ('discriminator' in issue && typeof issue.discriminator === 'string'))
      return [{ path, message: issueText(issue) }];
    // A number or a distribution, whichever was meant.
    const meant = issue.errors.find(
      (each) => !each.some(({ code, path: at }) => code === 'invalid_type' && at.length === 0),
    );
    if (meant === undefined) return [{ path, message: 'must be a number or a distribution' }];
    return findingsOf(meant).map((finding) => ({ ...finding, path: [...path, ...finding.path] }));
  });
}

/** Far more than any description, so that a wrong path cannot fill the memory. */
const BYTES_MAX = 1_048_576;
/** Nodes that aliases may multiply into: enough for a shared block or two, too few for a bomb. */
const ALIASES_MAX = 100;

/**
 * The workload that a YAML file is for, among those of the file and the built-in ones. Each mixture names existing ones,
 * and none contains itself. @throws WorkloadError with all problems
 */
function readWorkloadFile(file: string, builtIn: ReadonlyMap<string, Spec>) {
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
    // Parts of built-in workloads are named nowhere, so a file may have others of these names.
    ...(Object.hasOwn(BUILT_IN, name)
      ? [{ path: ['workloads', name], message: 'is the name of a built-in workload' }]
      : []),
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

export type WorkloadName = keyof typeof BUILT_IN;

export const WORKLOAD_NAMES = Object.keys(BUILT_IN) as WorkloadName[];

const specs: ReadonlyMap<string, Spec> = new Map(
  Object.entries<SpecInput>({ ...PARTS, ...BUILT_IN }).map(([name, spec]) => [name, specSchema.parse(spec)]),
);

export const WORKLOADS = Object.fromEntries(WORKLOAD_NAMES.map((name) => [name, compose(name, specs)])) as Readonly<
  Record<WorkloadName, Workload>
>;

/**
 * The built-in workload of that name, or the one described by a YAML file.
 * @throws WorkloadError with all problems of the file
 */
export function openWorkload(nameOrFile: string): Workload {
  if (nameOrFile in WORKLOADS) return WORKLOADS[nameOrFile as WorkloadName];
  if (!/[./\\]/.test(nameOrFile) && !existsSync(nameOrFile)) {
    const message = `is no file and no built-in workload; these are ${WORKLOAD_NAMES.join(', ')}`;
    throw new WorkloadError([{ path: '', message, origin: nameOrFile }]);
  }
  const file = readWorkloadFile(nameOrFile, specs);
  return compose(file.name, file.specs);
}
