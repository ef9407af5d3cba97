import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORMAT_NAMES, openTrace, programLine, type AgentCall, type AgentProgram } from '../../../workloads/index.js';
import { fileOf } from '../../support/folder.js';
import { callOf, readText, spoilt } from '../../support/traces.js';
import { ROOT } from '../../support/tree.js';

const RECORDED = `${ROOT}../shared/traces`;
/** Programs of each recording that are converted, the first ones; `TEST_PROGRAMS=Infinity` converts all. */
const RECORDED_MAX = Number(process.env['TEST_PROGRAMS'] ?? 20);

const call = (after: number[], rest: Partial<AgentCall> = {}): AgentCall =>
  callOf({ after, promptTokens: 100, outputTokens: 10, ...rest });

/** All that the format can say. */
const full: AgentProgram = {
  id: 'full',
  arrivalMs: 12.5,
  calls: [
    call([], {
      gapMs: 3,
      prefix: { name: 'system', tokens: 40 },
      messages: [
        { role: 'system', content: 'Be of help.' },
        { role: 'user', content: 'Où est-il ? "\\\u2028' },
      ],
      answer: '',
      tools: [{ name: 'find', ms: 0.5, id: 'x', arguments: '{}' }, { name: 'wait' }],
    }),
    call([0], {
      promptTokens: 120,
      prefix: { call: 0, tokens: 110 },
      messages: [{ role: 'tool', content: 'Here', tool: 'x' }],
    }),
    call([0], { thread: 'a', promptTokens: 0, outputTokens: 0 }),
    call([0], { thread: 'a/b', prefix: { blocks: [7, 8], blockTokens: 64 } }),
    call([1, 2, 3], { gapMs: 1000, prefix: { call: 2, tokens: 0 } }),
    call([]),
  ],
};

const line = (program: AgentProgram) => JSON.parse(programLine(program)) as Record<string, unknown>;

describe('a program', () => {
  it('is the same after it was written and read', async () => {
    expect(await readText(programLine(full))).toEqual({ format: 'maitred', programs: [full], problems: [] });
  });

  it('is written without what is usual', () => {
    const usual = { promptTokens: 100, outputTokens: 10 };
    expect(line({ id: 'a', calls: [call([]), call([0])] })).toEqual({
      maitredProgram: 1,
      id: 'a',
      calls: [usual, usual],
    });
    const after = (line(full)['calls'] as { after?: number[] }[]).map((each) => each.after);
    expect(after).toEqual([undefined, undefined, [0], [0], [1, 2, 3], []]);
  });

  it('is the same after it was written and read, whatever it is', async () => {
    const calls = fc.array(anyCall, { minLength: 1, maxLength: 12 });
    const program = fc
      .record({ id: fc.string({ minLength: 1 }), at: fc.option(fc.nat()), calls })
      .map(({ at, calls: all, id }): AgentProgram => ({
        id,
        ...(at !== null && { arrivalMs: at / 8 }),
        calls: all.map(fitted),
      }));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(program, { selector: ({ id }) => id, minLength: 1 }), async (programs) => {
        const text = programs.map((each) => `${programLine(each)}\n`).join('');
        expect(await readText(text)).toEqual({ format: 'maitred', programs, problems: [] });
      }),
      { numRuns: 100, seed: 6 },
    );
  });
});

const part = fc.double({ min: 0, max: 1, noNaN: true });
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const messages = fc.array(fc.record({ role: fc.constantFrom('system' as const, 'user' as const), content: text }), {
  minLength: 1,
});
const anyCall = fc.record({
  after: fc.option(fc.array(part, { maxLength: 3 })),
  gapMs: fc.double({ min: 0, max: 1e9, noNaN: true }).map((ms) => ms + 0),
  thread: fc.constantFrom('', 'a', 'a/b'),
  promptTokens: fc.nat(900_000),
  outputTokens: fc.nat(9000),
  share: fc.option(fc.record({ kind: fc.constantFrom('call', 'name', 'blocks'), of: part, tokens: part })),
  messages: fc.option(messages),
  answer: fc.option(text),
});
type AnyCall = typeof anyCall extends fc.Arbitrary<infer T> ? T : never;

/** The call with its references made fit to its place. */
function fitted(drawn: AnyCall, at: number, all: readonly AnyCall[]): AgentCall {
  const { after, share, messages: said, answer, ...rest } = drawn;
  const { promptTokens } = rest;
  const earlier = (share: number) => Math.floor(share * (at - 1));
  const chosen = at === 0 ? [] : (after ?? [1]).map(earlier);
  return {
    ...rest,
    after: [...new Set(chosen)],
    ...prefixOf(),
    ...(said !== null && share?.kind !== 'call' && { messages: said }),
    ...(answer !== null && { answer }),
  };

  function prefixOf(): Pick<AgentCall, 'prefix'> {
    if (share === null) return {};
    const { kind, of, tokens } = share;
    if (kind === 'name') return { prefix: { name: 'system', tokens: Math.floor(tokens * promptTokens) } };
    if (kind === 'blocks') return { prefix: { blocks: promptTokens > 64 ? [1, 2] : [], blockTokens: 64 } };
    const before = all[earlier(of)];
    if (at === 0 || before === undefined) return {};
    return { prefix: { call: earlier(of), tokens: Math.floor(tokens * Math.min(promptTokens, before.promptTokens)) } };
  }
}

describe('a malformed program', () => {
  const good = line(full);
  it.each([
    ['maitredProgram', 2, 'bad_field maitredProgram'],
    ['id', '', 'bad_field id'],
    ['more', 1, 'bad_field more'],
    ['calls', [], 'empty'],
    ['calls.0.promptTokens', undefined, 'bad_field calls.0.promptTokens'],
    ['calls.0.gapMs', -1, 'bad_field calls.0.gapMs'],
    ['calls.0.gap', 1, 'bad_field calls.0.gap'],
    ['calls.0', { promptTokns: 1, outputTokens: 1 }, 'bad_field calls.0.promptTokns'],
    ['calls.0.messages', [], 'bad_field calls.0.messages'],
    ['calls.0.prefix', { call: 0, tokens: 1 }, 'bad_field calls.0.prefix.call'],
    ['calls.0.prefix', { name: 'x' }, 'bad_field calls.0.prefix.tokens'],
    ['calls.0.prefix', { name: 'x', tokens: 101 }, 'bad_field calls.0.prefix.tokens'],
    ['calls.0.prefix', { name: 'x', tokens: 1, blocks: [] }, 'bad_field calls.0.prefix.blocks'],
    ['calls.1.prefix', { call: 0, tokens: 111 }, 'bad_field calls.1.prefix.tokens'],
    ['calls.1.prefix', { call: 1, tokens: 1 }, 'bad_field calls.1.prefix.call'],
    // The answer of a call that may not have ended yet.
    ['calls.1.after', [], 'bad_field calls.1.prefix.call'],
    ['calls.5.prefix', { call: 0, tokens: 100 }, undefined],
    ['calls.4.prefix', { call: 0, tokens: 100 }, undefined],
    ['calls.3.prefix', { blocks: [1, 2, 3], blockTokens: 64 }, 'bad_field calls.3.prefix.blocks'],
    ['calls.3.prefix', { blocks: [], blockTokens: 0 }, 'bad_field calls.3.prefix.blockTokens'],
    ['calls.2.after', [2], 'bad_field calls.2.after.0'],
    ['calls.4.after', [1, 7], 'bad_field calls.4.after.1'],
    ['calls.4.after', [1, 1], 'bad_field calls.4.after.1'],
    // A conversation that goes on from one that is not told.
    [
      'calls.4',
      { ...call([2]), prefix: { call: 2, tokens: 0 }, messages: [{ role: 'user', content: '' }] },
      'bad_field calls.4.prefix.call',
    ],
  ])('with %s of %j is left out, and told', async (path, value, problem) => {
    const last = line({ id: 'last', calls: [call([])] });
    const lines = [spoilt(good, path, value), last].map((each) => JSON.stringify(each)).join('\n');
    const { programs, problems } = await readText(lines);
    expect(problems).toEqual(problem === undefined ? [] : [`1 ${problem}`]);
    expect(programs).toHaveLength(problem === undefined ? 2 : 1);
  });
});

describe('docs/JSON.md', () => {
  const document = readFileSync(`${ROOT}docs/JSON.md`, 'utf8');
  const examples = [...document.matchAll(/```json\n(.*?)```/gs)].map((match) => match[1]!);

  it('has examples that can be read', async () => {
    expect(examples.length).toBeGreaterThan(1);
    for (const example of examples) {
      const { programs, problems } = await readText(JSON.stringify(JSON.parse(example)), 'maitred');
      expect(problems, example).toEqual([]);
      expect(programs.length).toBeGreaterThan(0);
    }
  });
});

describe.skipIf(!existsSync(RECORDED))('every public recording (needs ../shared/traces)', () => {
  const folders = ['weka-claude-code', ...FORMAT_NAMES].filter((name) => existsSync(`${RECORDED}/${name}`));
  const files = folders.flatMap((name) => readdirSync(`${RECORDED}/${name}`).map((file) => `${name}/${file}`));
  it.each(files.filter((file) => /\.(gz|jsonl)$/.test(file)))(
    '%s is the same after it was converted and read back',
    async (file) => {
      const programs: AgentProgram[] = [];
      const recording = await openTrace(`${RECORDED}/${file}`, { onMalformed: () => undefined });
      for await (const program of recording.programs) if (programs.push(program) >= RECORDED_MAX) break;
      const converted = await openTrace(fileOf('a.jsonl', programs.map((each) => `${programLine(each)}\n`).join('')));
      expect(converted.format).toBe('maitred');
      const changed: string[] = [];
      let read = 0;
      for await (const program of converted.programs) {
        if (!isDeepStrictEqual(program, programs[read++])) changed.push(program.id);
      }
      expect({ changed, read }).toEqual({ changed: [], read: programs.length });
    },
  );
});
