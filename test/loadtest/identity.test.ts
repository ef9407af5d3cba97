import { describe, expect, it } from 'vitest';
import { IDENTITY_NAMES, type IdentityName } from '../../loadtest/index.js';
import type { TotalsAnswer } from '../../sidecar/admin/answers.js';
import { engine } from '../sim/client.js';
import { world } from '../sidecar/gateway/world.js';
import { bodiesOf, call, front, load, program } from '../support/load.js';

/** A root that asks for a sub-agent, which asks for one itself, and goes on when both have ended. */
const nested = (id: string) => {
  const own = [call({ after: [0], thread: 'a' }), call({ after: [1], thread: 'a/b' })];
  return program(id, call(), ...own, call({ after: [0, 2], promptTokens: 200 }));
};

type Wire = Readonly<Record<string, unknown>>;

/** Headers and fields of the calls of one program, and of another one, in the order of their calls. */
async function wire(identity: IdentityName): Promise<{ one: Wire[]; other: Wire[] }> {
  const handle = await engine({ recordBodies: true });
  const run = async (id: string) => {
    const { calls } = await load({
      targets: [handle.url],
      programs: () => [nested(id)],
      identity,
      api: identity === 'codex' ? 'responses' : 'chat',
    });
    expect(calls.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 4 }, () => 'completed'));
    const records = handle.stats().records.slice(-4);
    return records.map(({ headers, body = '{}' }) => ({ ...headers, ...(JSON.parse(body) as Wire) }));
  };
  return { one: await run('one'), other: await run('other') };
}

/** Which of the calls have the same value under a name: `aab-` for two alike, another one, and none. */
function pattern(calls: readonly Wire[], name: string): string {
  const values = calls.map((each) => each[name]);
  const known = [...new Set(values.filter((value) => value !== undefined))];
  return values.map((value) => (value === undefined ? '-' : 'abcd'.charAt(known.indexOf(value)))).join('');
}

const EXPECTED: Readonly<Record<IdentityName, Readonly<Record<string, string>>>> = {
  none: { 'x-maitred-program': '----', 'x-session-id': '----', prompt_cache_key: '----' },
  maitred: { 'x-maitred-program': 'aaaa', 'x-maitred-thread': '-ab-', 'x-maitred-final': '---a' },
  'claude-code': {
    'x-claude-code-session-id': 'aaaa',
    'x-claude-code-agent-id': '-ab-',
    'x-claude-code-parent-agent-id': '--a-',
  },
  codex: {
    'session-id': 'aaaa',
    'thread-id': 'abca',
    'x-codex-parent-thread-id': '-ab-',
    'x-openai-subagent': '-aa-',
    'x-client-request-id': 'abcd',
    prompt_cache_key: 'aaaa',
  },
  opencode: { 'x-session-id': 'abca', 'x-session-affinity': 'abca', 'x-parent-session-id': '-ab-' },
  dynamo: { 'x-dynamo-session-id': 'abca', 'x-dynamo-parent-session-id': '-ab-', 'x-dynamo-session-final': '---a' },
  litellm: { 'x-litellm-session-id': 'aaaa', 'x-litellm-trace-id': 'aaaa' },
  vendor: { 'x-vendor-session-id': 'aaaa' },
  'llm-d': { 'x-llm-d-inference-fairness-id': 'aaaa' },
  sglang: { 'x-smg-routing-key': 'aaaa' },
  aibrix: { 'x-session-id': 'aaaa', 'x-aibrix-session-key': 'aaaa' },
  trtllm: { 'x-session-id': 'aaaa', 'x-correlation-id': 'aaaa' },
  aiperf: { 'x-correlation-id': 'aaaa', 'x-session-affinity': 'aaaa', 'x-request-id': 'abcd' },
  'inference-perf': { 'x-session-id': 'aaaa' },
  thunderagent: { program_id: 'aaaa' },
  'vllm-router': { 'x-session-id': 'aaaa', session_id: 'aaaa' },
};

describe.each(IDENTITY_NAMES)('the identity %s', (identity) => {
  it('is on the wire', async () => {
    const { one, other } = await wire(identity);
    const names = Object.keys(EXPECTED[identity]);
    expect(Object.fromEntries(names.map((name) => [name, pattern(one, name)]))).toEqual(EXPECTED[identity]);
    const [first = ''] = names;
    if (identity !== 'none') expect(other[0]?.[first]).not.toBe(one[0]?.[first]);
  });

  it.skipIf(identity === 'none')('is taken by the gateway for one program', async () => {
    const handle = await engine();
    const { url, adminUrl } = await world([handle], { admin: { port: 0 } });
    const { calls } = await load({ targets: [url], programs: () => [nested('one')], identity });
    expect(calls.every(({ queueMs, engine: by }) => queueMs >= 0 && by !== undefined)).toBe(true);
    const { programs } = (await (await fetch(`${adminUrl}/programs`)).json()) as { programs: { calls: number }[] };
    // Those who say that they have ended are forgotten; probes before the run are programs of one call each.
    const isTold = ['maitred', 'dynamo', 'thunderagent', 'vllm-router'].includes(identity);
    expect(programs.map((each) => each.calls).filter((count) => count > 1)).toEqual(isTold ? [] : [4]);
    if (identity === 'maitred') expect(programs).toEqual([]);
  });
});

it('leaves what is measured before a run out of a gateway’s count where an engine behind it is named', async () => {
  const handle = await engine();
  const { url } = await world([handle]);
  const options = { targets: [url], programs: () => [nested('one')], identity: 'maitred' } as const;
  const counted = async () => {
    const { program_completion_seconds: completed } = (await (await fetch(`${url}/totals`)).json()) as TotalsAnswer;
    return completed.count;
  };
  await load({ ...options, measuredAt: [handle.url] });
  expect(await counted()).toBe(1);
  await load(options);
  expect(await counted()).toBe(3);
});

describe('the end of a program', () => {
  it('is told by maitred in a message where its last calls run side by side, so that none of them is the last', async () => {
    const handle = await engine();
    const { url } = await world([handle]);
    const forked = program('forked', call(), call({ after: [0] }), call({ after: [0] }));
    const { programs } = await load({ targets: [url], programs: () => [forked], identity: 'maitred' });
    expect(programs).toMatchObject([{ outcome: 'completed', calls: 3 }]);
    expect(await (await fetch(`${url}/programs`)).json()).toMatchObject({ programs: [] });
  });

  it.each([
    ['thunderagent', '/programs/release', 'program_id'],
    ['vllm-router', '/finish_session', 'session_id'],
  ] as const)('is told by %s', async (identity, path, field) => {
    const handle = await engine({ recordBodies: true });
    const told: unknown[] = [];
    const url = await front(handle, (at, body) => {
      if (at !== path) return undefined;
      told.push((JSON.parse(body) as Wire)[field]);
      return { status: 200, text: '{}' };
    });
    await load({ targets: [url], programs: () => [nested('one')], identity });
    expect(told).toEqual([bodiesOf(handle, 4)[0]?.[field]]);
  });
});
