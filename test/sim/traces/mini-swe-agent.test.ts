import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { promptTokens, readMiniSweAgent, TraceError, type AgentProgram } from '../../../sim/index.js';
import { fileOf } from '../../support/folder.js';
import { jsonLines, trajectory } from '../../support/trajectory.js';

const RECORDED = fileURLToPath(
  new URL('../../../../shared/traces/mini-swe-agent/gemini-3-pro_swebench-verified_first60.jsonl.gz', import.meta.url),
);

/** What is read, and what is left out as `line code field`. */
async function read(file: string): Promise<{ programs: AgentProgram[]; problems: string[] }> {
  const programs: AgentProgram[] = [];
  const problems: string[] = [];
  const note = ({ line, code, field }: TraceError) => problems.push(`${line} ${code} ${field}`.trim());
  try {
    for await (const program of readMiniSweAgent(file, note)) programs.push(program);
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    note(error);
  }
  return { programs, problems };
}

const good = trajectory('good', ['first', 'second', 'third'], 4);

describe('a recorded program', () => {
  it('is what its client sent, call by call', async () => {
    const { programs, problems } = await read(fileOf('a.jsonl', jsonLines([good])));
    expect(problems).toEqual([]);
    expect(programs).toEqual([
      {
        id: 'good',
        calls: [
          {
            messages: [
              { role: 'system', content: 'You are an agent.' },
              { role: 'user', content: 'Task of good' },
            ],
            answer: 'first',
            outputTokens: 20,
            // Four seconds from call to call, less one for the model and 10 ms for each of its tokens.
            gapMs: 2800,
          },
          {
            messages: [{ role: 'user', content: 'Output 0 of good' }],
            answer: 'second',
            outputTokens: 21,
            gapMs: 2790,
          },
          { messages: [{ role: 'user', content: 'Output 1 of good' }], answer: 'third', outputTokens: 22, gapMs: 0 },
        ],
      },
    ]);
  });

  it('never has a gap below zero', async () => {
    const { programs } = await read(fileOf('a.jsonl', jsonLines([trajectory('quick', ['a', 'b'], 0)])));
    expect(programs[0]?.calls.map(({ gapMs }) => gapMs)).toEqual([0, 0]);
  });

  it('tells the tokens of its prompts, answers included', async () => {
    const { programs } = await read(fileOf('a.jsonl', jsonLines([good])));
    const [first, second, third] = promptTokens(programs[0]!, 1);
    expect(first).toBe('You are an agent.Task of good'.length);
    expect(second! - first!).toBe('firstOutput 0 of good'.length);
    expect(third! - second!).toBe('secondOutput 1 of good'.length);
    const unsaid = {
      id: 'x',
      calls: programs[0]!.calls.map(({ messages, outputTokens, gapMs }) => ({ messages, outputTokens, gapMs })),
    };
    expect(promptTokens(unsaid, 1)[1]).toBe(first! + 20 + 'Output 0 of good'.length);
  });
});

/** The good one with the value at a path changed. */
function spoilt(path: string, value: unknown): string {
  const copy: unknown = structuredClone(good);
  const keys = path.split('.');
  const last = keys.pop()!;
  const parent = keys.reduce((at, key) => (at as Record<string, unknown>)[key], copy);
  (parent as Record<string, unknown>)[last] = value;
  return JSON.stringify(copy);
}
const TOKENS = 'messages.2.extra.response.usage.completion_tokens';
const CREATED = 'messages.2.extra.response.created';

describe('a malformed recording', () => {
  it.each([
    ['not JSON', '{"instance_id": "cut', 'not_json'],
    ['a number', '7', 'bad_field'],
    ['null', 'null', 'bad_field'],
    ['a list', '[]', 'bad_field'],
    ['no id', spoilt('instance_id', undefined), 'bad_field instance_id'],
    ['an empty id', spoilt('instance_id', ''), 'bad_field instance_id'],
    ['no messages', spoilt('messages', undefined), 'bad_field messages'],
    ['no message', spoilt('messages', []), 'bad_field messages'],
    ['no answer', spoilt('messages', good.messages.slice(0, 2)), 'bad_field messages'],
    ['a message of null', spoilt('messages.1', null), 'bad_field messages.1'],
    ['a role unheard of', spoilt('messages.1.role', 'oracle'), 'bad_field messages.1.role'],
    ['content of a number', spoilt('messages.3.content', 1), 'bad_field messages.3.content'],
    ['an answer without its data', spoilt('messages.2.extra', undefined), 'bad_field messages.2.extra'],
    ['tokens below one', spoilt(TOKENS, 0), `bad_field ${TOKENS}`],
    ['tokens as text', spoilt(TOKENS, '9'), `bad_field ${TOKENS}`],
    ['a time below zero', spoilt(CREATED, -1), `bad_field ${CREATED}`],
    ['a time without end', spoilt(CREATED, 0).replace('"created":0', '"created":1e999'), `bad_field ${CREATED}`],
    ['an answer to nothing', spoilt('messages', good.messages.slice(2)), 'bad_field messages.0'],
    ['two answers in a row', spoilt('messages', good.messages.toSpliced(3, 1)), 'bad_field messages.3'],
  ])('of %s is named by line and field, and left out', async (_, line, problem) => {
    const text = `${jsonLines([good])}\n${line}\n${jsonLines([trajectory('last', ['a'])])}`;
    const { programs, problems } = await read(fileOf('a.jsonl', text));
    expect(programs.map(({ id }) => id)).toEqual(['good', 'last']);
    expect(problems).toEqual([`3 ${problem}`]);
  });

  it('is thrown where nobody wants to be told', async () => {
    const programs = readMiniSweAgent(fileOf('a.jsonl', `${jsonLines([good])}{}\n`));
    expect((await programs.next()).value).toMatchObject({ id: 'good' });
    await expect(programs.next()).rejects.toMatchObject({ code: 'bad_field', line: 2, field: 'instance_id' });
  });
});

describe('a damaged file', () => {
  const rows = Array.from({ length: 20 }, (_, row) => trajectory(`program-${row}`, ['a', 'b', 'c']));
  const plain = Buffer.from(jsonLines(rows));
  const packed = gzipSync(plain);

  it('gives the programs before the place where it is cut, and one problem', async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.double({ min: 0, max: 0.999, noNaN: true }), async (isPacked, share) => {
        const bytes = isPacked ? packed : plain;
        const cut = bytes.subarray(0, Math.floor(share * bytes.length));
        const { programs, problems } = await read(fileOf(isPacked ? 'a.jsonl.gz' : 'a.jsonl', cut));
        expect(programs.map(({ id }) => id)).toEqual(rows.slice(0, programs.length).map((row) => row.instance_id));
        // A cut between two lines of a plain file cannot be seen.
        expect(problems.length).toBeLessThanOrEqual(1);
        if (isPacked && cut.length > 0) expect(problems[0]).toMatch(/ unreadable$/);
      }),
      { numRuns: 60, seed: 2 },
    );
  });

  it('never does worse than leave programs out', async () => {
    const place = fc.nat(plain.length - 1);
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1 }),
        async (isPacked, hits) => {
          const bytes = Buffer.from(isPacked ? packed : plain);
          for (const [at, value] of hits) bytes[at % bytes.length] = value;
          const { programs } = await read(fileOf(isPacked ? 'a.jsonl.gz' : 'a.jsonl', bytes));
          for (const program of programs) expect(program.calls.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 100, seed: 3 },
    );
  });
});

describe.skipIf(!existsSync(RECORDED))('the public recordings (need ../shared/traces)', () => {
  it('are read whole', async () => {
    const { programs, problems } = await read(RECORDED);
    expect(problems).toEqual([]);
    expect(programs).toHaveLength(60);
    const calls = programs.flatMap((program) => program.calls);
    expect(calls).toHaveLength(2265);
    expect(Math.max(...calls.map(({ gapMs }) => gapMs))).toBeLessThan(600_000);
    expect(Math.max(...programs.flatMap((program) => promptTokens(program, 4)))).toBeGreaterThan(20_000);
  });
});
