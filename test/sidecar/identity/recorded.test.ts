import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../sidecar/apis/index.js';
import { createCaller } from './caller.js';

/**
 * Recorded programs, all at once, without headers, their calls interleaved in a fixed random order. The tests count the
 * calls that join their own program, another's, or a new one.
 */
const TRACES = fileURLToPath(new URL('../../../../shared/traces/', import.meta.url));
const unzip = (path: string) => gunzipSync(readFileSync(TRACES + path)).toString();

type Program = readonly JsonObject[];
type Client = (history: Program) => Program;

const sweAgents = (): Program[] =>
  unzip('mini-swe-agent/gemini-3-pro_swebench-verified_first60.jsonl.gz')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { messages: Program }).messages);

const airline = (): Program[] =>
  (JSON.parse(unzip('tau-bench/gpt-4o-airline.json.gz')) as { traj: Program }[]).map(({ traj }) => traj);

function* order(programs: readonly Program[], seed: number): Generator<number> {
  const left = programs.map((messages, i) => ({ i, calls: messages.filter((m) => m['role'] === 'assistant').length }));
  for (let state = seed; left.length > 0;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const at = Math.floor((state / 2_147_483_648) * left.length);
    const program = left[at]!;
    yield program.i;
    if (--program.calls === 0) left.splice(at, 1);
  }
}

function replay(programs: readonly Program[], client: Client, seed = 7) {
  const caller = createCaller({ conversationsMax: 100_000 });
  const tally = { calls: 0, own: 0, another: 0, fresh: 0 };
  const owners = new Map<string, number>();
  /** Programs assigned to the calls of each recorded program, in order. */
  const given = programs.map((): string[] => []);
  const next = programs.map(() => 0);
  for (const i of order(programs, seed)) {
    const messages = programs[i]!;
    const at = messages.findIndex((message, k) => k >= next[i]! && message['role'] === 'assistant');
    next[i] = at + 1;
    const answer = { choices: [{ message: messages[at]! }] };
    const { program } = caller.call({ body: { messages: client(messages.slice(0, at)) } }, answer);
    tally.calls++;
    const owner = owners.get(program);
    if (given[i]!.length === 0) expect(owner).toBeUndefined();
    else if (owner === i) tally.own++;
    else if (owner === undefined) tally.fresh++;
    else tally.another++;
    if (owner === undefined) owners.set(program, i);
    given[i]!.push(program);
  }
  return { tally, given };
}

const whole: Client = (history) => history;
const sliding: Client = (history) => [history[0]!, ...history.slice(1).slice(-5)];
const elided: Client = (history) =>
  history.map((m, i) =>
    i > 1 && m['role'] === 'user' && i < history.length - 5 ? { role: 'user', content: '[removed]' } : m,
  );
let clock = 0;
const dated: Client = (history) => [
  { role: 'system', content: `${String(history[0]!['content'])} ${++clock}` },
  ...history.slice(1),
];

describe.skipIf(!existsSync(TRACES))('recorded programs without identity (needs ../shared/traces)', () => {
  it('joins every call of 60 SWE agents to its own program: 2,205 of 2,205', () => {
    const { tally } = replay(sweAgents(), whole);
    expect(tally).toEqual({ calls: 2265, own: 2205, another: 0, fresh: 0 });
  });

  it.each([
    ['a sliding window of five messages', sliding],
    ['old observations removed', elided],
    ['a clock in the system prompt', dated],
  ])('joins them all the same with %s', (_what, client) => {
    expect(replay(sweAgents(), client).tally).toEqual({ calls: 2265, own: 2205, another: 0, fresh: 0 });
  });

  it('loses 2 % and joins none wrongly when only the last three messages are sent', () => {
    const { tally } = replay(sweAgents(), (history) => history.slice(-3));
    expect(tally.another).toBe(0);
    expect(tally.fresh / tally.calls).toBeLessThan(0.02);
  });

  it('keeps 200 airline dialogues apart, of which several begin alike word by word', () => {
    const { given } = replay(airline(), whole);
    // Dialogues that are equal so far are interchangeable; after they differ, each is one program.
    const ends = given.map((programs) => programs.at(-1));
    expect(new Set(ends).size).toBe(200);
    expect(new Set(given.flat()).size).toBe(200);
    for (const programs of given) expect(new Set(programs.slice(3)).size).toBeLessThanOrEqual(1);
  });
});
