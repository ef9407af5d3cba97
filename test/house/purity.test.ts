import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ROOT, listFiles, parseSource } from '../support/tree.js';

const ROOMS = ['src', 'loadbalancer', 'plans'];

/** The ways by which a clock, chance, a timer or the surroundings could come in other than as an argument. */
const BANNED = new Set(
  `Date performance Temporal setTimeout setInterval setImmediate clearTimeout queueMicrotask console process
  globalThis global self require Buffer fetch crypto eval Function WeakRef FinalizationRegistry Atomics`.split(/\s+/),
);

/** Operators whose last digit differs between versions of Node, as that of `Math.pow` does: a recording must replay on any. */
const UNSTEADY = new Set([ts.SyntaxKind.AsteriskAsteriskToken, ts.SyntaxKind.AsteriskAsteriskEqualsToken]);
const BANNED_OF_MATH = new Set(['Math.random', 'Math.pow']);

/** What is banned and used in a file, with its lines. A property of the same name (`call.process`) is not a use. */
function impurities(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const report = (node: ts.Node) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push(`${source.fileName}:${line + 1} ${node.getText(source)}`);
  };
  const visit = (node: ts.Node) => {
    if (ts.isPropertyAccessExpression(node) && BANNED_OF_MATH.has(node.getText(source))) report(node);
    else if (ts.isElementAccessExpression(node) && node.expression.getText(source) === 'Math') report(node);
    if (UNSTEADY.has(node.kind)) report(node);
    if (ts.isIdentifier(node) && BANNED.has(node.text) && !isName(node)) report(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether an identifier names a member instead of standing for a variable. */
function isName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (
    ts.isPropertyAccessExpression(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isClassElement(parent) ||
    ts.isTypeElement(parent)
  )
    return parent.name === node;
  return ts.isQualifiedName(parent) && parent.right === node;
}

describe('pure rooms', () => {
  const sources = listFiles().filter((file) => file.endsWith('.ts') && ROOMS.includes(file.split('/')[0]!));

  it('use no clock, chance, timer or surroundings, nor what differs between versions of Node', () => {
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.flatMap((file) => impurities(parseSource(file)))).toEqual([]);
  });

  it.each([
    'const now = Date.now();',
    "const x = Math['random']();",
    'const { now } = performance;',
    'const clock = globalThis.performance;',
    'const env = { process };',
    'let x = 2; x **= 0.5;',
    'const root = Math.pow(2, 0.5);',
  ])('would be caught at %s', (text) => {
    expect(impurities(parseSource('probe.ts', text))).not.toEqual([]);
  });

  it.each([
    'call.process();',
    'const a = { Date: 1 };',
    '// Date.now()',
    "const text = 'Math.random()';",
    'Math.max(1, 2);',
  ])('are left alone at %s', (text) => {
    expect(impurities(parseSource('probe.ts', text))).toEqual([]);
  });

  it.each(ROOMS)('%s is compiled without the types of Node and of browsers', (room) => {
    const path = `${ROOT}${room}/tsconfig.json`;
    const { options, fileNames } = ts.parseJsonConfigFileContent(
      ts.readConfigFile(path, (name) => ts.sys.readFile(name)).config,
      ts.sys,
      `${ROOT}${room}`,
      undefined,
      path,
    );
    const probe = `${ROOT}${room}/probe.ts`;
    const words = ['process', 'Buffer', 'setTimeout', 'performance', 'console', 'fetch', 'window', 'require'];
    const text = `${words.map((word) => `${word};`).join('\n')}\nimport 'node:fs';\nexport {};`;
    const host = ts.createCompilerHost(options);
    const getSourceFile = host.getSourceFile.bind(host);
    const fileExists = host.fileExists.bind(host);
    host.getSourceFile = (name, ...rest) =>
      name === probe ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2023) : getSourceFile(name, ...rest);
    host.fileExists = (name) => name === probe || fileExists(name);
    const program = ts.createProgram([...fileNames, probe], options, host);
    const errors = program.getSemanticDiagnostics(program.getSourceFile(probe));
    const lines = errors.map(({ file, start }) => file!.getLineAndCharacterOfPosition(start!).line);
    expect(lines).toEqual([...words, 'import'].map((_, line) => line));
  });
});
