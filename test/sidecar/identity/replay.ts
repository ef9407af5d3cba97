import { tenantId } from '../../../src/index.js';
import { apiFor, type JsonObject } from '../../../sidecar/apis/index.js';
import type { Identifier, IdentityRequest } from '../../../sidecar/identity/index.js';
import { makeRandom } from '../../../bench/numbers.js';

/** A request from a client. */
interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/**
 * One run of a client. It yields requests and receives answers, as assistant messages in the shape of chat completions.
 */
export type Run = Generator<Sent, void, JsonObject>;

/** The engine's answer to the nth call of a run. */
export type Engine = (run: number, call: number) => JsonObject;

export interface Score {
  readonly runs: number;
  readonly calls: number;
  readonly programs: number;
  /** Share of call pairs in one program that belong to one run. */
  readonly precision: number;
  /** Share of call pairs of one run that are in one program. */
  readonly recall: number;
}

const TENANT = tenantId('t');

/**
 * Plays runs in lockstep, the hardest case: all calls are in flight together, then all are answered, then all runs
 * continue. Each step is in random order from a fixed seed.
 * @param areOne whether all runs are one program
 * @param make creates the identifier; its argument counts a program's calls in flight
 */
export function replay(
  runs: readonly Run[],
  engine: Engine,
  areOne: boolean,
  make: (active: (program: string) => number) => Pick<Identifier, 'identify' | 'answered'>,
): Score {
  const random = makeRandom(7);
  const active = new Map<string, number>();
  const add = (program: string, by: number) => active.set(program, (active.get(program) ?? 0) + by);
  const identifier = make((program) => active.get(program) ?? 0);
  const calls: { run: number; program: string }[] = [];
  const send = (run: number, { path = '/v1/chat/completions', headers = {}, body }: Sent) => {
    const api = apiFor(path);
    if (!api) throw new Error(`no API at ${path}`);
    const request: IdentityRequest = { tenant: TENANT, headers, body, facts: api.readRequest({ model: 'm', ...body }) };
    const identity = identifier.identify(request);
    calls.push({ run: areOne ? 0 : run, program: identity.program });
    add(identity.program, 1);
    return (message: JsonObject) => {
      identifier.answered(identity, request, api.readAnswer(wrapped(path, message)));
      add(identity.program, -1);
    };
  };
  let going = runs.map((run, index) => ({ index, sent: run.next().value }));
  for (let call = 0; going.length > 0; call += 1) {
    const inFlight = shuffled(going, random).flatMap(({ index, sent }) =>
      sent ? [{ index, answer: send(index, sent) }] : [],
    );
    going = shuffled(inFlight, random).map(({ index, answer }) => {
      const message = engine(index, call);
      answer(message);
      return { index, sent: runs[index]?.next(message).value };
    });
  }
  return scoreOf(calls, areOne ? 1 : runs.length);
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** A chat message as an answer of the API at this path. */
function wrapped(path: string, message: JsonObject): JsonObject {
  return path === '/v1/responses' ? { output: itemsOf(message) } : { choices: [{ message }] };
}

/** The output items of an answer in the responses API. */
export function itemsOf({ content, tool_calls: calls }: JsonObject): JsonObject[] {
  const text =
    content === null ? [] : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: content }] }];
  const called = (calls as { id: string; function: JsonObject }[] | undefined) ?? [];
  return [...text, ...called.map((call) => ({ type: 'function_call', call_id: call.id, ...call.function }))];
}

function scoreOf(calls: readonly { run: number; program: string }[], runs: number): Score {
  const sizes = (key: (call: (typeof calls)[number]) => string) => {
    const groups = new Map<string, number>();
    for (const call of calls) groups.set(key(call), (groups.get(key(call)) ?? 0) + 1);
    return groups;
  };
  const pairs = (groups: ReadonlyMap<string, number>) =>
    [...groups.values()].reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
  const both = sizes(({ run, program }) => `${run} ${program}`);
  const programs = sizes(({ program }) => program);
  const share = (of: number) => (of === 0 ? 1 : pairs(both) / of);
  return {
    runs,
    calls: calls.length,
    programs: programs.size,
    precision: share(pairs(programs)),
    recall: share(pairs(sizes(({ run }) => String(run)))),
  };
}
