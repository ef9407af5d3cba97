import type { WorkflowInput } from '../../sidecar/workflows/schema.js';
import { listOf, objectOf, textOf, type Fail, type Json, type Sizes } from './json.js';

/** UTF-8 bytes of JSON that count as a token. */
const TOKEN_BYTES = 4;

/** A turn in the order in which it is put. */
interface Step {
  readonly id: string;
  readonly turn: Json;
}

/**
 * AIPerf's `dag_jsonl`: sessions of turns, which fork and spawn further sessions. A workflow is at one node at a time,
 * so the sessions that a turn begins are put behind it, and its own session goes on behind them. The node of a turn is
 * `session/turn`, counted from 0. Only the new messages of a turn count as uncached.
 * @param named the session to begin with; undefined: the only one that none begins
 */
export function fromDag(
  sessions: readonly Json[],
  named: string | undefined,
  sizes: Sizes,
  fail: Fail,
): Pick<WorkflowInput, 'nodes' | 'edges'> {
  const byId = new Map(sessions.map((session) => [textOf(session['session_id']), session]));
  if (byId.size < sessions.length) fail('two sessions have the same session_id');
  const begun = new Set(
    sessions.flatMap((session) => [...childrenOf(session), ...turnsOf(session).flatMap(childrenOf)]),
  );
  const roots = [...byId.keys()].filter((id) => !begun.has(id));
  const [root = '', ...others] = named === undefined ? roots : [named];
  if (others.length > 0) fail(`${roots.length} root sessions; choose one with --session`);
  if (root === '') fail('every session is begun by another: choose the first by --session');
  const steps: Step[] = [];
  const seen = new Set<string>();
  const follow = (id: string): void => {
    const session = byId.get(id) ?? fail(`there is no session ${id}`);
    if (seen.has(id)) fail(`session ${id} is begun twice`);
    if (turnsOf(session).length === 0) fail(`session ${id} has no turns: orchestrators are not read`);
    seen.add(id);
    childrenOf(session).forEach(follow);
    for (const [index, turn] of turnsOf(session).entries()) {
      steps.push({ id: `${id}/${index}`, turn });
      childrenOf(turn).forEach(follow);
    }
  };
  follow(root);
  return {
    nodes: steps.map(({ id, turn }) => ({ id, ...sizesOf(turn, sizes), ...modelOf(turn) })),
    edges: steps.slice(1).map(({ id, turn: { delay } }, index) => ({
      from: steps[index]?.id ?? '',
      to: id,
      ...(typeof delay === 'number' && delay > 0 && { ms: delay }),
    })),
  };
}

const turnsOf = (session: Json): readonly Json[] => listOf(session['turns']).map(objectOf);

/** Sessions that a turn forks and spawns, or that begin before a session. */
function childrenOf({ forks, spawns, pre_session_spawns: before }: Json): string[] {
  return [...listOf(before), ...listOf(forks), ...listOf(spawns)].flatMap((entry) => {
    const { child, children } = objectOf(entry);
    return typeof entry === 'string'
      ? [entry]
      : [...(child === undefined ? [] : [textOf(child)]), ...listOf(children).map(textOf)];
  });
}

function sizesOf({ messages, tools, max_tokens: given, extra }: Json, { promptTokens, outputTokens }: Sizes): Sizes {
  const bytes = [messages, tools].reduce<number>(
    (sum, part) => sum + (part === undefined || part === null ? 0 : Buffer.byteLength(JSON.stringify(part))),
    0,
  );
  const most = given ?? objectOf(extra)['max_completion_tokens'];
  return {
    promptTokens: bytes === 0 ? promptTokens : Math.ceil(bytes / TOKEN_BYTES),
    outputTokens: typeof most === 'number' ? most : outputTokens,
  };
}

const modelOf = ({ model }: Json): { model?: string } => (typeof model === 'string' && model !== '' ? { model } : {});
