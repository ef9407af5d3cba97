import { describe, expect, it } from 'vitest';
import type { AgentCall, AgentProgram } from '../../../workloads/index.js';
import { itLeavesOut, itReadsRecorded, readText } from '../../support/traces.js';
import { jsonLines } from '../../support/trajectory.js';

/** A call of the recording: when it is sent and how long it takes in seconds, its tokens and its blocks of four. */
function call(t: number, api_time: number, size: number, hash_ids: number[], rest: object = {}) {
  return { type: 'n', t, api_time, in: size, out: 3, hash_ids, model: 'm', stop: 'tool_use', ...rest };
}
const helper = (agent_id: string, endedAt: number, seconds: number, requests: object[]) => ({
  type: 'subagent',
  agent_id,
  t: endedAt,
  duration_ms: seconds * 1000,
  status: 'completed',
  requests,
});
const session = (id: string, requests: object[]) => ({ id, block_size: 4, hash_id_scope: 'local', requests });

const chain = session('chain', [
  call(0, 2, 10, [1, 2], { think_time: 0 }),
  // Keeps all blocks of the first, and is long enough for its answer.
  call(5, 1, 14, [1, 2, 3], { think_time: 3 }),
  // Keeps the blocks, and is too short for the answer.
  call(7, 1, 16, [1, 2, 3, 4], { think_time: 1 }),
  // Goes back to the first block, behind which it says something else.
  call(9, 1, 8, [1, 9], { think_time: 1 }),
  // And this goes on from the third call.
  call(11, 1, 40, [1, 2, 3, 4, 5], { think_time: 1 }),
  // Nothing is known.
  call(13, 1, 4, [77], { think_time: 1 }),
]);

async function readOne(recorded: object): Promise<AgentProgram> {
  const { programs, problems } = await readText(jsonLines([recorded]), 'weka');
  expect(problems).toEqual([]);
  return programs[0]!;
}
/** Of each call its thread, the calls that it waits for, and the gap behind them. */
const links = ({ calls }: AgentProgram) =>
  calls.map(({ thread, after, gapMs }: AgentCall) => `${thread}[${after.join()}]+${gapMs}`).join(' ');
const prefixes = ({ calls }: AgentProgram) =>
  calls.map(({ prefix }) => (prefix && 'call' in prefix ? `${prefix.call}:${prefix.tokens}` : '-')).join(' ');

describe('a session', () => {
  it('is a chain of calls with the lengths, think times and shared beginnings that were recorded', async () => {
    const program = await readOne(chain);
    expect(program.id).toBe('chain');
    expect(program.calls.map(({ promptTokens }) => promptTokens)).toEqual([10, 14, 16, 8, 40, 4]);
    expect(program.calls.every(({ outputTokens }) => outputTokens === 3)).toBe(true);
    expect(links(program)).toBe('[]+0 [0]+3000 [1]+1000 [2]+1000 [3]+1000 [4]+1000');
    // What the blocks tell, with the answer where a call goes on from the one before.
    expect(prefixes(program)).toBe('- 0:13 1:14 0:4 2:16 -');
  });

  it('takes gaps from the times where the recording lacks what it needs', async () => {
    const first = [call(0, 2, 4, [1]), call(5, 2, 4, [1])];
    const odd = { ...call(10, 0, 4, [1], { think_time: 4 }), api_time: null };
    const program = await readOne(session('gaps', [...first, odd, call(30, 1, 4, [1], { think_time: 23 })]));
    expect(links(program)).toBe('[]+0 [0]+3000 [1]+4000 [2]+20000');
  });

  it('is put into order when its requests are not', async () => {
    const calls = [call(9, 1, 12, [1, 2, 3]), call(0, 1, 4, [1]), call(4, 1, 8, [1, 2])];
    const program = await readOne(session('disordered', calls));
    expect(program.calls.map(({ promptTokens }) => promptTokens)).toEqual([4, 8, 12]);
  });
});

describe('sub-agents', () => {
  it('begin when their parent has asked for them, and it waits for all of them', async () => {
    const program = await readOne(
      session('helpers', [
        call(0, 10, 8, [1, 2]),
        helper('a', 40, 29, [call(0, 5, 4, [50]), call(9, 5, 8, [50, 51], { think_time: 4 })]),
        helper('b', 50, 38, [call(0, 5, 8, [50, 60])]),
        call(55, 5, 16, [1, 2, 3], { think_time: 45 }),
      ]),
    );
    // The parent goes on five seconds after the end of the last of them, and not 45 after the answer before it.
    expect(links(program)).toBe('[]+0 a[0]+1000 a[1]+4000 b[0]+2000 [0,2,3]+5000');
    expect(prefixes(program)).toBe('- - 1:7 1:4 0:11');
  });

  it('are not waited for when their parent went on before their end', async () => {
    const background = helper('a', 90, 79, [call(0, 5, 4, [50])]);
    const own = [call(0, 10, 4, [1]), call(15, 1, 4, [1], { think_time: 5 })];
    expect(links(await readOne(session('background', [...own, background])))).toBe('[]+0 a[0]+1000 [0]+5000');
  });

  it('have sub-agents of their own', async () => {
    const inner = helper('b', 8, 4, [call(0, 1, 4, [70])]);
    const outer = helper('a', 30, 20, [call(0, 4, 4, [50]), inner, call(9, 2, 4, [51])]);
    const program = await readOne(session('nested', [call(0, 10, 4, [1]), outer, call(31, 1, 4, [1])]));
    expect(links(program)).toBe('[]+0 a[0]+0 a/b[1]+0 a[1,2]+1000 [0,3]+1000');
  });

  it('without calls are nothing to wait for, and without a parent’s call begin by themselves', async () => {
    const idle = [call(0, 1, 4, [1]), helper('a', 5, 3, []), call(9, 1, 4, [1], { think_time: 8 })];
    expect(links(await readOne(session('idle', idle)))).toBe('[]+0 [0]+8000');
    expect(links(await readOne(session('alone', [helper('a', 5, 3, [call(0, 1, 4, [1])])])))).toBe('a[]+0');
  });
});

describe('a malformed session', () => {
  itLeavesOut(
    [
      ['id', undefined],
      ['block_size', 0],
      ['requests', {}],
      ['requests', [], 'empty'],
      ['requests.1.t', -1],
      ['requests.2.out', undefined],
      ['requests.3.hash_ids', undefined],
      ['requests.3.type', 'z'],
      ['requests.4', helper('a', 1, 1, [{}]), 'bad_field requests.4.requests.0.type'],
      ['requests.4', helper('a', -1, 1, []), 'bad_field requests.4.t'],
      ['requests.4', { type: 'subagent' }, 'bad_field requests.4.agent_id'],
    ],
    [chain, { ...chain, id: 'bad' }, session('last', [call(0, 1, 4, [1])])],
    jsonLines,
  );
});

it('a session whose sub-agents are nested too deep is left out, and told', async () => {
  const depth = 20_000;
  const opening = '{"type":"subagent","agent_id":"a","t":1,"duration_ms":1,"requests":[';
  const text = `{"id":"deep","block_size":4,"requests":[${opening.repeat(depth)}${']}'.repeat(depth)}]}`;
  const { programs, problems } = await readText(`${text}\n${jsonLines([chain])}`);
  expect(problems).toEqual(['1 bad_field']);
  expect(programs.map(({ id }) => id)).toEqual(['chain']);
});

const sorted = (values: number[]) => values.toSorted((a, b) => a - b);
const median = (values: number[]) => sorted(values)[Math.floor(values.length / 2)]!;
const shareKept = (calls: readonly AgentCall[]) => {
  const kept = calls.map(({ prefix }) => (prefix && 'call' in prefix ? prefix.tokens : 0));
  return kept.reduce((sum, tokens) => sum + tokens, 0) / calls.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
};

const threadsOf = (programs: readonly AgentProgram[]) =>
  new Set(programs.flatMap(({ id, calls }) => calls.map(({ thread }) => `${id} ${thread}`))).size;
const expectWithin = (value: number, least: number, most: number) => {
  expect(value).toBeGreaterThan(least);
  expect(value).toBeLessThan(most);
};

itReadsRecorded('weka', 'weka-claude-code/traces_first50.jsonl.gz', (programs, calls) => {
  expect([programs.length, calls.length, threadsOf(programs)]).toEqual([50, 3846, 61]);
  // Of the whole public set: 108 k and 237 tokens, a gap of 10 s, 95 % of prompts known.
  expectWithin(median(calls.map(({ promptTokens }) => promptTokens)), 90_000, 120_000);
  expectWithin(median(calls.map(({ outputTokens }) => outputTokens)), 200, 270);
  expectWithin(median(calls.map(({ gapMs }) => gapMs)), 8000, 13_000);
  expectWithin(shareKept(calls), 0.94, 0.97);
});

itReadsRecorded('weka', 'weka-claude-code/traces_with_subagents_first6.jsonl.gz', (programs) => {
  expect([programs.length, threadsOf(programs)]).toEqual([6, 6 + 33]);
  const joins = programs[0]!.calls.filter(({ after }) => after.length > 1);
  // Three helpers together, and then two.
  expect(joins.map(({ thread, after }) => `${thread}${after.length}`)).toEqual(['4', '3']);
});
