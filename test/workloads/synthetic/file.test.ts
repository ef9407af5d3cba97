import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { BUILT_IN } from '../../../workloads/synthetic/built-in.js';
import { openWorkload } from '../../../cli/sim/source.js';
import { ConfigError } from '../../../sidecar/config/index.js';
import { WORKLOADS, type WorkloadName } from '../../../workloads/synthetic/file.js';
import { fileOf, folderOf } from '../../support/folder.js';
import { ROOT } from '../../support/tree.js';
import { take } from '../../support/workload-figures.js';

/** What is wrong with a file: the line and the path of each problem. */
function problemsOf(file: string): string[] {
  try {
    openWorkload(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ path, origin = '', message }) => {
      expect(message).not.toBe('');
      return `${origin.startsWith(file) ? origin.slice(file.length) : origin} ${path}`.trim();
    });
  }
  return [];
}
const problemsIn = (text: string | Uint8Array): string[] => problemsOf(fileOf('own.yaml', text));

const AGENT = '{ kind: agent, inputTokens: 5, outputTokens: 7 }';
const own = (text: string): string => `workloads:\n  own: ${text}\n`;
const with1 = (keys: string): string => own(`{ kind: agent, inputTokens: 5, outputTokens: 7, ${keys} }`);
const mixture = (parts: string): string => own(`{ kind: mixture, of: { ${parts} } }`);
const KNOT = 'a: { kind: mixture, of: { chat: 1, b: 1 } }\n  b: { kind: mixture, of: { a: 1 } }';
const TWO_FAULTS = 'a: { kind: agent, outputTokens: 5 }\n  m: { kind: mixture, of: { a: 1, talk: 0, chatt: 1 } }';
const TOOL = 'tools: [{ name: a, ms: 0, resultTokens: 0 }]';

describe('a file of workloads', () => {
  it('runs the only one, or the one that it names', () => {
    // A part of the built-in `team` is called `rag`, too.
    for (const name of ['own', 'rag'])
      expect(openWorkload(fileOf('own.yaml', `workloads: { ${name}: ${AGENT} }`)).name).toBe(name);
    const two = `workload: second\nworkloads: { first: ${AGENT}, second: ${AGENT} }`;
    expect(openWorkload(fileOf('own.yaml', two)).name).toBe('second');
  });

  it('has the shape of the built-in ones', () => {
    for (const [name, spec] of Object.entries(BUILT_IN)) {
      const own = openWorkload(fileOf('own.yaml', stringify({ workloads: { own: spec } })));
      const calls = (workload: typeof own) => take(workload, 5, 2).map((program) => program.calls);
      expect(calls(own)).toEqual(calls(WORKLOADS[name as WorkloadName]));
    }
  });

  it.each(readdirSync(`${ROOT}examples/workloads`))('examples/workloads/%s draws programs', (name) => {
    const all = take(openWorkload(`${ROOT}examples/workloads/${name}`), 50);
    expect(all.every(({ calls }) => calls.length > 0)).toBe(true);
  });

  it('has as many system prompts as families, each program beginning with one', () => {
    const system = (families: string) => `system: [{ name: a, tokens: 12000${families} }]`;
    const drawn = (families: string) =>
      take(
        openWorkload(
          fileOf('own.yaml', `workloads: { a: { kind: agent, ${system(families)}, inputTokens: 5, outputTokens: 5 } }`),
        ),
        200,
      );
    const names = (families: string) => drawn(families).map(({ calls }) => (calls[0]?.prefix as { name: string }).name);
    expect(new Set(names(', families: 8')).size).toBe(8);
    expect(drawn(', families: 8').every(({ calls }) => calls[0]!.promptTokens === 12_005)).toBe(true);
    expect(new Set(names(''))).toEqual(new Set(['a']));
  });

  it('mixes its own with the built-in ones', () => {
    const all = `workload: all\nworkloads: { own: ${AGENT}, all: { kind: mixture, of: { own: 1, mixed: 3 } } }`;
    const names = new Set(take(openWorkload(fileOf('own.yaml', all)), 300).map(({ workload }) => workload));
    expect([...names].toSorted()).toEqual(['chat', 'mcts', 'own', 'react']);
  });

  it.each<[string, string, string[]]>([
    ['an unknown key', with1('turn: 3'), [':2 workloads.own.turn']],
    ['an unknown kind', own('{ kind: chain }'), [':2 workloads.own.kind']],
    ['a missing key', own('{ kind: agent, inputTokens: 5 }'), [':2 workloads.own.outputTokens']],
    ['NaN', with1('turns: .nan'), [':2 workloads.own.turns']],
    ['zero calls now and then', with1('turns: { dist: uniform, min: 0, max: 2 }'), [':2 workloads.own.turns.min']],
    ['a size without bound', with1('turns: { dist: geometric, mean: 3 }'), [':2 workloads.own.turns.max']],
    ['a distribution that is none', with1('turns: { dist: zipf }'), [':2 workloads.own.turns.dist']],
    ['bounds the wrong way round', with1('turns: { dist: uniform, min: 3, max: 2 }'), [':2 workloads.own.turns.max']],
    ['a bad point', with1('turns: { dist: quantiles, points: [[0, 1], [1]] }'), [':2 workloads.own.turns.points[1]']],
    ['too many calls', with1(`turns: 1000, callsPerTurn: 11, ${TOOL}`), [':2 workloads.own.callsPerTurn']],
    ['several calls without a tool', with1('callsPerTurn: 2'), [':2 workloads.own.tools']],
    ['a context that holds no first message', with1('firstInputTokens: 200000'), [':2 workloads.own.contextTokensMax']],
    ['a context that holds no answer', with1('contextTokensMax: 7'), [':2 workloads.own.contextTokensMax']],
    ['a bad name', `workloads:\n  "a b": ${AGENT}\n`, [':2 workloads.a b']],
    ['the name of a built-in one', `workloads:\n  chat: ${AGENT}\n`, [':2 workloads.chat']],
    ['several problems', with1('turns: 0, thinkMs: -1'), [':2 workloads.own.turns', ':2 workloads.own.thinkMs']],
    ['an empty mixture', mixture(''), [':2 workloads.own.of']],
    ['a part that there is not', mixture('chat: 1, talk: 1'), [':2 workloads.own.of.talk']],
    [
      'a missing key, and parts that there are not',
      `workload: m\nworkloads:\n  ${TWO_FAULTS}\n`,
      [':3 workloads.a.inputTokens', ':4 workloads.m.of.talk', ':4 workloads.m.of.chatt'],
    ],
    ['a part without weight', mixture('chat: 0'), [':2 workloads.own.of.chat']],
    ['a mixture of itself', mixture('own: 1'), [':2 workloads.own.of.own']],
    ['a circle', `workload: a\nworkloads:\n  ${KNOT}\n`, [':3 workloads.a.of.b', ':4 workloads.b.of.a']],
    ['several workloads and none named', `workloads: { a: ${AGENT}, b: ${AGENT} }`, ['workload']],
    ['one named that there is not', `workload: c\nworkloads: { a: ${AGENT}, b: ${AGENT} }`, [':1 workload']],
    ['a built-in one named', `workload: chat\nworkloads: { a: ${AGENT} }`, [':1 workload']],
    ['no workload', 'workloads: {}\n', [':1 workloads']],
    ['nothing', '', ['workloads']],
    ['text', 'chat\n', ['']],
    ['no YAML', 'workloads: [\n', [':2']],
    ['a key twice', `workloads:\n  a: ${AGENT}\n  a: ${AGENT}\n`, [':3']],
    ['an unknown tag', 'workloads: !nope {}\n', [':1']],
  ])('with %s is refused, with the place', (_, text, problems) => {
    expect(problemsIn(text)).toEqual(problems);
  });

  it.each([
    ['an agent', with1('turn: 3'), 'turns'],
    ['a tool', with1('tools: [{ nam: a, ms: 0, resultTokens: 0 }]'), 'name'],
    ['a distribution', with1('turns: { dist: geometric, mean: 3, max: 5, maxx: 5 }'), 'max?'],
    ['a mixture', mixture('reactt: 1'), 'react?'],
    ['letters that are swapped', 'workloads: { my: { kind: agnet } }', 'agent?'],
  ])('names the key that an unknown one of %s is like', (_, text, known) => {
    expect(() => openWorkload(fileOf('own.yaml', text))).toThrow(`did you mean ${known}`);
  });

  it.each<[string, string | Uint8Array]>([
    ['not UTF-8', Uint8Array.of(0x61, 0xff, 0xfe)],
    ['too long', `# ${'x'.repeat(2 ** 23)}\n`],
    ['blown up by aliases', `a: &a [${'1,'.repeat(9)}1]\nb: &b [${'*a,'.repeat(9)}*a]\nc: [${'*b,'.repeat(60)}]\n`],
  ])('that is %s is refused', (_, text) => expect(problemsIn(text)).toEqual(['']));

  it('must be there', () => {
    expect(problemsOf('/nowhere/own.yaml')).toEqual(['']);
    expect(problemsOf('nowhere')).toEqual(['']);
    expect(problemsOf(folderOf({}))).toEqual(['']);
  });

  it('looks at mixtures of mixtures once each', () => {
    const layers = Array.from({ length: 60 }, (_, at) => {
      const next = `{ kind: mixture, of: { a${at + 1}: 1, b${at + 1}: 1 } }`;
      return `  a${at}: ${next}\n  b${at}: ${next}\n`;
    });
    const file = fileOf('own.yaml', `workload: a0\nworkloads:\n${layers.join('')}  a60: ${AGENT}\n  b60: ${AGENT}\n`);
    const names = new Set(take(openWorkload(file), 50).map(({ workload }) => workload));
    expect([...names].toSorted()).toEqual(['a60', 'b60']);
  });
});
