import { describe, expect, it } from 'vitest';
import { API_NAMES } from '../../loadtest/index.js';
import { COMMON_WORDS } from '../../loadtest/words.js';
import type { EngineHandle } from '../../sim/index.js';
import type { AgentMessage, AgentProgram } from '../../workloads/index.js';
import { FORMAT_NAMES } from '../../workloads/index.js';
import { programs } from '../../workloads/workload.js';
import { WORKLOADS, WORKLOAD_NAMES } from '../../workloads/synthetic/file.js';
import { engine } from '../sim/client.js';
import { sampleTrace } from '../support/sample-trace.js';
import { readText } from '../support/traces.js';
import { bodiesOf, call, chain, front, load, program, singles } from '../support/load.js';

/** Prompt and answer of each call as the program has them, and as they were counted. */
function lengths(all: readonly AgentProgram[], calls: Awaited<ReturnType<typeof load>>['calls']) {
  const wanted = new Map(all.map((each) => [each.id, each.calls]));
  return {
    wanted: calls.map(({ program: id, call: index }) => {
      const { promptTokens = NaN, outputTokens = NaN } = wanted.get(id)?.[index] ?? {};
      return [id, index, promptTokens, outputTokens];
    }),
    counted: calls.map((each) => [each.program, each.call, each.promptTokens, each.outputTokens]),
  };
}

describe.each(API_NAMES)('the %s API', (api) => {
  it.each([true, false])('carries prompts and answers of exactly the wanted lengths (stream: %s)', async (stream) => {
    const handle = await engine();
    const all = [chain('chain', 4), ...singles(3, { promptTokens: 333, outputTokens: 21 })];
    const { calls, programs: ended } = await load({ targets: [handle.url], programs: () => all, api, stream });
    expect(calls.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 7 }, () => 'completed'));
    const { wanted, counted } = lengths(all, calls);
    expect(counted).toEqual(wanted);
    expect(ended).toHaveLength(4);
    // What the engine itself counted, not what it told.
    const sequences = handle.stats().records.flatMap((record) => record.sequences);
    const engineCounted = sequences
      .slice(-7)
      .map(({ promptTokens, outputTokens }) => `${promptTokens} ${outputTokens}`);
    expect(engineCounted.sort()).toEqual(wanted.map(([, , prompt, output]) => `${prompt} ${output}`).sort());
    expect(calls.every(({ firstTokenMs }) => Number.isNaN(firstTokenMs) !== stream)).toBe(true);
  });

  // In a text without messages, tokens of an answer begin where those of its prompt happen to end.
  it.skipIf(api === 'completions')('goes on from the answers of the target, which has them in its cache', async () => {
    const handle = await engine();
    const turn = (index: number) => ({ after: [index - 1], prefix: { call: index - 1, tokens: 60 + 80 * index } });
    const calls = Array.from({ length: 5 }, (_, index) =>
      call({ promptTokens: 100 + 80 * index, outputTokens: 40, ...(index > 0 && turn(index)) }),
    );
    const played = await load({ targets: [handle.url], programs: () => [program('grown', ...calls)], api });
    for (const { call: index, cachedTokens } of played.calls.slice(1))
      expect(cachedTokens).toBeGreaterThan(60 + 80 * index - 16 - 4);
  });

  it.skipIf(api === 'completions')('follows tool calls with their results, under the ids of the target', async () => {
    const handle = await engine({ recordBodies: true });
    const tools = [{ name: 'look', id: 'recorded-1', arguments: '{}' }];
    const said = (role: AgentMessage['role'], content: string, tool?: string): AgentMessage => ({
      role,
      content,
      ...(tool !== undefined && { tool }),
    });
    const spoken = program(
      'spoken',
      call({ messages: [said('system', 'Be brief.'), said('user', 'What is there?')], tools, answer: 'I look.' }),
      call({
        after: [0],
        prefix: { call: 0, tokens: 10 },
        messages: [said('tool', 'Nothing at all.', 'recorded-1')],
        outputTokens: 30,
      }),
    );
    const { calls } = await load({ targets: [handle.url], programs: () => [spoken], api });
    expect(calls.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
    const [, second] = bodiesOf(handle, 2);
    const text = JSON.stringify(second);
    const id = /"(?:tool_call_id|call_id|tool_use_id)":"([^"]+)"/.exec(text)?.[1] ?? '';
    expect(id).not.toBe('');
    expect(id).not.toBe('recorded-1');
    expect(text.split(`"${id}"`)).toHaveLength(3);
    expect(text).toContain('Nothing at all.');
  });
});

/** The engine with a tokenizer of ours. */
const counting = (handle: EngineHandle, tokensOf: (text: string) => number) =>
  front(handle, (path, body) => {
    if (path !== '/tokenize') return undefined;
    const { prompt = '' } = JSON.parse(body) as { prompt?: string };
    return { status: 200, text: JSON.stringify({ count: tokensOf(prompt) }) };
  });

describe('recorded programs', () => {
  it.each(FORMAT_NAMES)('of %s are sent call by call, as their reader has them', async (format) => {
    const handle = await engine({ recordBodies: true });
    const { programs: all } = await readText(sampleTrace(format, 2));
    const { calls } = await load({ targets: [handle.url], programs: () => all, gapMsMax: 1 });
    expect(calls.map(({ outcome }) => outcome)).toEqual(all.flatMap((each) => each.calls.map(() => 'completed')));
    const bodies = JSON.stringify(bodiesOf(handle, calls.length));
    for (const { id, calls: own } of all)
      for (const [index, { after, messages, promptTokens, outputTokens }] of own.entries()) {
        const played = calls.find((each) => each.program === id && each.call === index)!;
        expect(played.outputTokens).toBe(outputTokens);
        if (messages === undefined) expect(played.promptTokens).toBe(promptTokens);
        for (const { content } of messages ?? []) expect(bodies).toContain(JSON.stringify(content).slice(1, -1));
        for (const before of after)
          expect(played.sentMs).toBeGreaterThanOrEqual(
            calls.find((each) => each.program === id && each.call === before)!.endedMs,
          );
      }
  });
});

describe('made text', () => {
  it.each(WORKLOAD_NAMES)('has the lengths of the workload %s', async (name) => {
    const handle = await engine({ speed: 100_000, maxModelLen: 40_000 });
    const take = () => programs(WORKLOADS[name], 3);
    const { calls, summary } = await load({
      targets: [handle.url],
      programs: take,
      maxPrograms: 4,
      timeScale: 1e5,
      gapMsMax: 1000,
    });
    const left = new Set(calls.map((each) => each.program));
    const drawn: AgentProgram[] = [];
    for (const each of take()) {
      if (left.delete(each.id)) drawn.push(each);
      if (left.size === 0) break;
    }
    const { wanted, counted } = lengths(drawn, calls);
    expect(counted).toEqual(wanted);
    expect(summary.targets[0]).toMatchObject({ tokenizer: 'tokenize', isExact: true });
  });

  it('begins alike where programs share a prefix, and else in no two programs', async () => {
    const handle = await engine();
    const prefix = { name: 'system', tokens: 64 };
    const arrivals = { type: 'closed', concurrency: 1 } as const;
    const shared = await load({ targets: [handle.url], programs: () => singles(3, { prefix }), arrivals });
    expect(shared.calls.map(({ cachedTokens }) => cachedTokens)).toEqual([0, 64, 64]);
    const own = async () => (await load({ targets: [handle.url], programs: () => singles(3), arrivals })).calls;
    // A second run of the same seed finds nothing of the first.
    expect([...(await own()), ...(await own())].map(({ cachedTokens }) => cachedTokens)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('is the same for the same blocks', async () => {
    const handle = await engine();
    const of = (...blocks: number[]) => call({ promptTokens: 32 * blocks.length, prefix: { blocks, blockTokens: 32 } });
    const all = [program('a', of(1, 2, 3)), program('b', of(1, 2, 4)), program('c', of(5, 2, 3))];
    const { calls } = await load({
      targets: [handle.url],
      programs: () => all,
      arrivals: { type: 'closed', concurrency: 1 },
    });
    expect(calls.map(({ cachedTokens }) => cachedTokens)).toEqual([0, 48, 0]);
    expect(calls.map(({ promptTokens }) => promptTokens)).toEqual([96, 96, 96]);
  });

  it('branches off where a prompt keeps only a part of an earlier one', async () => {
    const handle = await engine();
    const kept = (tokens: number, promptTokens: number) =>
      call({ after: [0], promptTokens, prefix: { call: 0, tokens } });
    const tree = program('tree', call({ promptTokens: 400 }), kept(200, 300), kept(400, 400), kept(16, 500));
    const { calls } = await load({ targets: [handle.url], programs: () => [tree] });
    expect(calls.map(({ promptTokens }) => promptTokens)).toEqual([400, 300, 400, 500]);
    const cached = calls.toSorted((a, b) => a.call - b.call).map(({ cachedTokens }) => cachedTokens);
    const [, some = 0, all = 0, none] = cached;
    expect([some > 200 - 32, some <= 208, all > 400 - 32, none! <= 16]).toEqual([true, true, true, true]);
  });

  it('is of words that are one token each, wherever they stand', async () => {
    const handle = await engine({ recordBodies: true });
    // Two tokens at the beginning of a line, and two behind a space.
    const [opening, inner] = [COMMON_WORDS.slice(0, 30), COMMON_WORDS.slice(30, 60)];
    const ofLine = (line: string) =>
      line.split(' ').reduce((sum, word, at) => sum + ((at === 0 ? opening : inner).includes(word) ? 2 : 1), 0);
    const tokensOf = (text: string) => text.split('\n').reduce((sum, line) => sum + 1 + ofLine(line), -1);
    const url = await counting(handle, tokensOf);
    await load({ targets: [url], programs: () => [chain('chain', 3), ...singles(9)] });
    for (const { messages } of bodiesOf(handle, 12) as unknown as { messages: { role: string; content: string }[] }[])
      for (const { content } of messages.filter(({ role }) => role === 'user'))
        expect(tokensOf(content)).toBe(content.split(' ').length);
  });

  it('is not searched for single tokens word by word where the tokenizer has none', async () => {
    const handle = await engine();
    let asked = 0;
    const url = await counting(handle, (text) => ((asked += 1), text.length));
    const { summary } = await load({ targets: [url], programs: () => singles(1) });
    expect(asked).toBeLessThan(20);
    expect(summary.targets[0]).toMatchObject({ tokenizer: 'tokenize', isExact: false });
  });

  it('is calibrated by what calls cost where nobody counts tokens', async () => {
    const handle = await engine();
    const url = await front(handle, (path) => (path === '/tokenize' ? { status: 404, text: '' } : undefined));
    const all = [chain('chain', 3)];
    const { calls, summary } = await load({ targets: [url], programs: () => all });
    expect(summary.targets[0]).toMatchObject({ tokenizer: 'usage', isExact: true });
    const { wanted, counted } = lengths(all, calls);
    expect(counted).toEqual(wanted);
  });
});

describe('recorded words', () => {
  const spoken = program(
    'spoken',
    call({
      messages: [
        { role: 'system', content: 'You fix "bugs".' },
        { role: 'user', content: 'It fails.\n' },
      ],
      answer: 'I look at it.',
    }),
    call({
      after: [0],
      prefix: { call: 0, tokens: 20 },
      messages: [{ role: 'user', content: 'Expected 1.' }],
      outputTokens: 12,
    }),
  );

  it('are sent as they are after a mark of the run, with the answers of the target', async () => {
    const handle = await engine({ recordBodies: true });
    await load({ targets: [handle.url], programs: () => [spoken] });
    const [first, second] = bodiesOf(handle, 2).map(({ messages }) => messages as AgentMessage[]);
    expect(first?.[0]?.content).toMatch(/^\[0-[\da-f]{8}\]\nYou fix "bugs"\.$/);
    expect(first?.slice(1)).toEqual(spoken.calls[0]!.messages!.slice(1));
    expect(second?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(second?.[2]?.content).not.toBe('I look at it.');
    expect(second?.[2]?.content.length).toBe(32);
  });

  it('go on from recorded answers where these are wanted', async () => {
    const handle = await engine({ recordBodies: true });
    await load({ targets: [handle.url], programs: () => [spoken], recordedAnswers: true });
    const [, second] = bodiesOf(handle, 2).map(({ messages }) => messages as AgentMessage[]);
    expect(second?.[2]).toEqual({ role: 'assistant', content: 'I look at it.' });
  });
});
