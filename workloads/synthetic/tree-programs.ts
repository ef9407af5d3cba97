import type { AgentCall, Prefix } from '../program.js';
import type { Dice } from '../dice.js';
import { draw, drawWhole } from './distribution.js';
import type { TreeSpec } from './spec.js';

/** A state of the search: the thoughts and observations on its path. */
interface Node {
  readonly depth: number;
  /** Tokens of that path. */
  readonly pathTokens: number;
  /** The calls that proposed and judged it; the root has none. */
  readonly proposed?: number;
  readonly judged?: number;
}

/**
 * A search tree as LATS grows it. Parallel calls expand a selected leaf into children. When all have acted, parallel
 * calls judge them. Then one child is expanded in turn; at the greatest depth another leaf is selected. The best child
 * is drawn at random, as it makes no difference to the engines.
 */
export function treeCalls(spec: TreeSpec, dice: Dice): AgentCall[] {
  const calls: AgentCall[] = [];
  const inputTokens = drawWhole(spec.inputTokens, dice);
  const expansions = drawWhole(spec.expansions, dice);
  const depthMax = drawWhole(spec.depthMax, dice);
  let leaves: Node[] = [{ depth: 0, pathTokens: 0 }];
  let ready: readonly number[] = [];
  for (let done = 0; done < expansions && leaves.length > 0;) {
    const rolloutDepth = drawWhole(spec.rolloutDepth, dice);
    let node = take(leaves, dice);
    while (node !== undefined && done < expansions) {
      const children = expand(calls, node, ready, { spec, inputTokens }, dice);
      done += 1;
      ready = children.map(({ judged }) => judged);
      const open = children.filter(({ depth }) => depth < depthMax);
      node = (open[0]?.depth ?? Infinity) < rolloutDepth ? take(open, dice) : undefined;
      leaves = leaves.concat(open);
    }
  }
  return calls;
}

interface Search {
  readonly spec: TreeSpec;
  readonly inputTokens: number;
}

function expand(calls: AgentCall[], node: Node, ready: readonly number[], { spec, inputTokens }: Search, dice: Dice) {
  const { expand: proposing, evaluate: judging } = spec;
  const promptTokens = proposing.system.tokens + inputTokens + node.pathTokens;
  const first = calls.length;
  const answers = Array.from({ length: drawWhole(spec.branch, dice) }, (_, index) => {
    const outputTokens = drawWhole(proposing.outputTokens, dice);
    // All share the prompt of the first one.
    const prefix =
      index > 0 ? { call: first, tokens: promptTokens } : grownFrom(calls, node.proposed, proposing.system);
    calls.push({ after: ready, thread: '', gapMs: 0, promptTokens, outputTokens, prefix });
    return outputTokens;
  });
  const proposed = answers.map((_, index) => first + index);
  const firstJudged = calls.length;
  const sharedTokens = judging.system.tokens + inputTokens + node.pathTokens;
  const gapMs = draw(spec.toolMs, dice);
  return answers.map((answerTokens, index) => {
    const pathTokens = node.pathTokens + answerTokens + drawWhole(spec.resultTokens, dice);
    const outputTokens = drawWhole(judging.outputTokens, dice);
    const prefix =
      index > 0 ? { call: firstJudged, tokens: sharedTokens } : startOf(calls, node.judged, judging.system);
    const judgedTokens = judging.system.tokens + inputTokens + pathTokens;
    calls.push({ after: proposed, thread: '', gapMs, promptTokens: judgedTokens, outputTokens, prefix });
    return { depth: node.depth + 1, pathTokens, proposed: first + index, judged: firstJudged + index };
  });
}

interface Text {
  readonly name: string;
  readonly tokens: number;
}

/** The whole conversation of the call, with its answer. */
function grownFrom(calls: readonly AgentCall[], call: number | undefined, { name, tokens }: Text): Prefix {
  const from = call === undefined ? undefined : calls[call];
  return call === undefined || from === undefined
    ? { name, tokens }
    : { call, tokens: from.promptTokens + from.outputTokens };
}

/** The prompt of the call, without its answer: later prompts do not contain judgements. */
function startOf(calls: readonly AgentCall[], call: number | undefined, { name, tokens }: Text): Prefix {
  const from = call === undefined ? undefined : calls[call];
  return call === undefined || from === undefined ? { name, tokens } : { call, tokens: from.promptTokens };
}

/** Removes a random node; undefined when there is none. */
function take(from: Node[], dice: Dice): Node | undefined {
  const at = dice.int(0, from.length - 1);
  const taken = from[at];
  const last = from.pop();
  if (last !== undefined && at < from.length) from[at] = last;
  return taken;
}
