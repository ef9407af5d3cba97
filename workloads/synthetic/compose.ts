import type { AgentCall, Prefix } from '../program.js';
import type { Dice } from '../dice.js';
import type { Spec, AgentSpec, MapReduceSpec, TreeSpec } from './spec.js';
import type { Workload } from '../workload.js';
import { draw, drawWhole } from './distribution.js';

type Shares = ReadonlyMap<string, number>;

/**
 * The named workload. A program of a mixture carries the name of its part; for nested mixtures, of the innermost part.
 * @param specs every workload that it needs, without cycles, as `readWorkloadFile` returns them
 * @throws RangeError when one is missing
 */
export function compose(name: string, specs: ReadonlyMap<string, Spec>): Workload {
  const spec = specs.get(name);
  if (spec === undefined) throw new RangeError(`there is no workload ${name}`);
  if (spec.kind !== 'mixture') return { name, draw: (dice, id) => ({ id, calls: callsOf(spec, dice) }) };
  const parts = [...sharesOf(name, specs, new Map())].map(([part, weight]) => ({
    weight,
    workload: compose(part, specs),
  }));
  return {
    name,
    hasTenants: spec.tenants !== undefined,
    draw(dice, id) {
      const part = pick(parts, dice);
      if (part === undefined) throw new RangeError(`the mixture ${name} is empty`);
      const { name: kind } = part.workload;
      const program = { ...part.workload.draw(dice, id), workload: kind };
      const tenants = spec.tenants?.[kind];
      return tenants === undefined ? program : { ...program, tenant: `${kind}-${dice.int(1, tenants)}` };
    },
  };
}

function callsOf(part: Exclude<Spec, { readonly kind: 'mixture' }>, dice: Dice): AgentCall[] {
  switch (part.kind) {
    case 'agent': {
      const calls: AgentCall[] = [];
      addAgent(calls, part, '', [], dice);
      return calls;
    }
    case 'tree':
      return treeCalls(part, dice);
    case 'map-reduce':
      return mapReduceCalls(part, dice);
  }
}

/** The parts of a workload that are not mixtures. @param known shares of mixtures already visited */
function sharesOf(name: string, specs: ReadonlyMap<string, Spec>, known: Map<string, Shares>): Shares {
  const spec = specs.get(name);
  if (spec?.kind !== 'mixture') return new Map([[name, 1]]);
  const before = known.get(name);
  if (before !== undefined) return before;
  const sum = Object.values(spec.of).reduce((all, each) => all + each, 0);
  const shares = new Map<string, number>();
  for (const [part, weight] of Object.entries(spec.of))
    for (const [leaf, share] of sharesOf(part, specs, known))
      shares.set(leaf, (shares.get(leaf) ?? 0) + (share * weight) / sum);
  known.set(name, shares);
  return shares;
}

/**
 * Adds the calls of an agent in sequence. Each prompt consists of the previous prompt, its answer without the
 * reasoning, and the reply of a tool or a person.
 * @returns tokens of the last answer that others may read
 */
function addAgent(calls: AgentCall[], spec: AgentSpec, thread: string, after: readonly number[], dice: Dice): number {
  const system = pick(spec.system, dice);
  const turns = drawWhole(spec.turns, dice);
  let promptTokens = system?.tokens ?? 0;
  let prefix: AgentCall['prefix'] = system && { name: familyOf(system, dice), tokens: system.tokens };
  let gapMs = 0;
  let answerTokens = 0;
  let isFirst = true;
  for (let turn = 0; turn < turns; turn += 1) {
    promptTokens += drawWhole(
      turn === 0 && spec.firstInputTokens !== undefined ? spec.firstInputTokens : spec.inputTokens,
      dice,
    );
    if (turn > 0) gapMs = draw(spec.thinkMs, dice);
    const inTurn = drawWhole(spec.callsPerTurn, dice);
    for (let call = 1; call <= inTurn; call += 1) {
      const isLast = call === inTurn;
      const outputTokens = drawWhole((isLast ? spec.answerTokens : undefined) ?? spec.outputTokens, dice);
      const reasoningTokens = Math.min(outputTokens, drawWhole(spec.reasoningTokens, dice));
      // The first call is always made, cut to fit.
      if (isFirst) promptTokens = Math.min(promptTokens, spec.contextTokensMax - outputTokens);
      else if (promptTokens + outputTokens > spec.contextTokensMax) return answerTokens;
      const tool = isLast ? undefined : pick(spec.tools, dice);
      const toolMs = tool === undefined ? 0 : draw(tool.ms, dice);
      const at = calls.push({
        after: isFirst ? after : [calls.length - 1],
        thread,
        gapMs,
        promptTokens,
        outputTokens,
        ...(prefix && { prefix }),
        ...(tool && { tools: [{ name: tool.name, ms: toolMs }] }),
      });
      isFirst = false;
      answerTokens = outputTokens - reasoningTokens;
      // Reasoning is not sent back, so the text after it moves and is no longer cached.
      prefix = { call: at - 1, tokens: promptTokens + (reasoningTokens > 0 ? 0 : outputTokens) };
      promptTokens += answerTokens + (tool === undefined ? 0 : drawWhole(tool.resultTokens, dice));
      gapMs = toolMs;
    }
  }
  return answerTokens;
}

/** The name of the text that a program begins with. */
const familyOf = ({ name, families }: AgentSpec['system'][number], dice: Dice): string =>
  families === 1 ? name : `${name}/${dice.int(1, families)}`;

function pick<T extends { readonly weight: number }>(from: readonly T[], dice: Dice): T | undefined {
  if (from.length < 2) return from[0];
  let left = dice.share() * from.reduce((sum, { weight }) => sum + weight, 0);
  return from.find(({ weight }) => (left -= weight) < 0) ?? from.at(-1);
}

/**
 * A parent that plans, runs sub-agents in parallel, waits for all of them and summarises their reports. The summary may
 * be the plan for the next sub-agents. Each sub-agent is a thread with a conversation of its own.
 */
function mapReduceCalls(spec: MapReduceSpec, dice: Dice): AgentCall[] {
  const calls: AgentCall[] = [];
  const { system, subAgent } = spec;
  let promptTokens = (system?.tokens ?? 0) + drawWhole(spec.inputTokens, dice);
  let prefix: AgentCall['prefix'] = system && { name: system.name, tokens: system.tokens };
  let after: readonly number[] = [];
  const rounds = drawWhole(spec.rounds, dice);
  for (let round = 1; round <= rounds + 1; round += 1) {
    const outputTokens = drawWhole(spec.outputTokens, dice);
    const parent: number =
      calls.push({ after, thread: '', gapMs: 0, promptTokens, outputTokens, ...(prefix && { prefix }) }) - 1;
    if (round > rounds) break;
    prefix = { call: parent, tokens: promptTokens + outputTokens };
    promptTokens += outputTokens;
    const ends = [parent];
    const subAgents = drawWhole(spec.subAgents, dice);
    for (let index = 1; index <= subAgents; index += 1) {
      promptTokens += addAgent(calls, subAgent, `${round}.${index}`, [parent], dice);
      ends.push(calls.length - 1);
    }
    after = ends;
  }
  return calls;
}

/** A state of the search: the thoughts and observations on its path. */
interface Node {
  readonly depth: number;
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
function treeCalls(spec: TreeSpec, dice: Dice): AgentCall[] {
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
      const children = expand(calls, node, ready, spec, inputTokens, dice);
      done += 1;
      ready = children.map(({ judged }) => judged);
      const open = children.filter(({ depth }) => depth < depthMax);
      node = (open[0]?.depth ?? Infinity) < rolloutDepth ? take(open, dice) : undefined;
      leaves = leaves.concat(open);
    }
  }
  return calls;
}

function expand(calls: AgentCall[], node: Node, ready: readonly number[], spec: TreeSpec, input: number, dice: Dice) {
  const { expand: proposing, evaluate: judging } = spec;
  const promptTokens = proposing.system.tokens + input + node.pathTokens;
  const first = calls.length;
  const answers = Array.from({ length: drawWhole(spec.branch, dice) }, (_, index) => {
    const outputTokens = drawWhole(proposing.outputTokens, dice);
    // All share the prompt of the first one.
    const prefix =
      index > 0 ? { call: first, tokens: promptTokens } : startOf(calls, node.proposed, proposing.system, true);
    calls.push({ after: ready, thread: '', gapMs: 0, promptTokens, outputTokens, prefix });
    return outputTokens;
  });
  const proposed = answers.map((_, index) => first + index);
  const firstJudged = calls.length;
  const sharedTokens = judging.system.tokens + input + node.pathTokens;
  const gapMs = draw(spec.toolMs, dice);
  return answers.map((answerTokens, index) => {
    const pathTokens = node.pathTokens + answerTokens + drawWhole(spec.resultTokens, dice);
    const outputTokens = drawWhole(judging.outputTokens, dice);
    const prefix =
      index > 0 ? { call: firstJudged, tokens: sharedTokens } : startOf(calls, node.judged, judging.system, false);
    const judgedTokens = judging.system.tokens + input + pathTokens;
    calls.push({ after: proposed, thread: '', gapMs, promptTokens: judgedTokens, outputTokens, prefix });
    return { depth: node.depth + 1, pathTokens, proposed: first + index, judged: firstJudged + index };
  });
}

/** The conversation of the call, with its answer or without: later prompts do not contain judgements. */
function startOf(
  calls: readonly AgentCall[],
  call: number | undefined,
  { name, tokens }: TreeSpec['expand']['system'],
  hasAnswer: boolean,
): Prefix {
  const from = call === undefined ? undefined : calls[call];
  if (call === undefined || from === undefined) return { name, tokens };
  return { call, tokens: from.promptTokens + (hasAnswer ? from.outputTokens : 0) };
}

function take(from: Node[], dice: Dice): Node | undefined {
  const at = dice.int(0, from.length - 1);
  const taken = from[at];
  const last = from.pop();
  if (last !== undefined && at < from.length) from[at] = last;
  return taken;
}
