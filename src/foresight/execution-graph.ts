import type { ToolLatency } from './tool-latency.js';

/** Nodes of one graph; a further one takes the place of the least visited. */
const NODES_MAX = 12;
/** Visits of a node that are remembered: each new one discounts the earlier ones by this fraction. */
const MEMORY_VISITS = 128;
/** Ended threads needed before a graph predicts (SAGA, 3.3). */
const ENDED_MIN = 30;
/** Least probability of a successor that counts (SAGA's theta_conf). */
const CONFIDENCE_MIN = 0.7;
/** Prior of a node: its weight in visits, and the share of answers with and without tools that the thread goes on from. */
const PRIOR_VISITS = 4;
const PRIOR_GOES_ON = { tools: 0.95, text: 0.5 };

/** The successors of an answer. */
export interface Ahead {
  /** Probability that its thread goes on. */
  readonly goesOn: number;
  /** Tokens by which the next prompt exceeds the context. */
  readonly growthTokens: number;
  /** Tools that the next answer asks for; undefined: none are likely enough. */
  readonly tools: ToolLatency | undefined;
}

/** Answers that ask for the same tools, in one agent type. Means and shares discount old visits. */
class Node {
  /** Answers whose thread went on or ended, and the share of those that went on. */
  visits = PRIOR_VISITS;
  goesOn: number;
  growthTokens = 0;
  #growths = 0;
  /** The node of the most frequent next answer, if most are that one, and its share. */
  #likely: ToolLatency | undefined;
  #likelyShare = 0.5;

  constructor(readonly tools: ToolLatency) {
    this.goesOn = PRIOR_GOES_ON[tools.name === '' ? 'text' : 'tools'];
  }

  get ahead(): Ahead {
    const { goesOn, growthTokens } = this;
    return { goesOn, growthTokens, tools: this.#likelyShare >= CONFIDENCE_MIN ? this.#likely : undefined };
  }

  left(goesOn: boolean): void {
    this.visits = Math.min(this.visits + 1, MEMORY_VISITS);
    this.goesOn += ((goesOn ? 1 : 0) - this.goesOn) / this.visits;
  }

  /** One end is taken back. */
  revived(): void {
    this.goesOn = Math.min(1, this.goesOn + 1 / this.visits);
  }

  succeeded(next: ToolLatency, growthTokens: number): void {
    this.#growths = Math.min(this.#growths + 1, MEMORY_VISITS);
    this.growthTokens += (growthTokens - this.growthTokens) / this.#growths;
    const weight = 1 / Math.min(this.#growths + PRIOR_VISITS, MEMORY_VISITS);
    // Each other successor votes against the present one: so the majority is found (Boyer and Moore 1981).
    this.#likelyShare += ((next === this.#likely ? 1 : 0) - this.#likelyShare) * weight;
    if (this.#likelyShare >= 0.5) return;
    this.#likely = next;
    this.#likelyShare = 0.5;
  }
}

/**
 * The execution graph of one agent type, learnt from its threads (SAGA, definition 3.1). A node stands for the answers
 * that ask for the same tools. Of its edges the end is kept, and the one successor that may be likely enough to count.
 */
export class ExecutionGraph {
  readonly #nodes: Node[] = [];
  #ended = 0;

  /** The thread has gone on after this answer. */
  followed(tools: ToolLatency): void {
    this.#node(tools).left(true);
  }

  /** The thread has ended with this answer, or counts as ended. */
  ended(tools: ToolLatency): void {
    this.#ended += 1;
    this.#node(tools).left(false);
  }

  /** A thread that counted as ended has gone on. */
  revived(tools: ToolLatency): void {
    this.#node(tools).revived();
  }

  /** After the answer `from` came `to`, whose prompt was longer than the context before by `growthTokens`. */
  succeeded(from: ToolLatency, to: ToolLatency, growthTokens: number): void {
    this.#node(from).succeeded(to, growthTokens);
  }

  /** The successors of an answer; undefined: no thread of this type is known to have given it, or too few have ended. */
  after(tools: ToolLatency): Ahead | undefined {
    return this.#ended < ENDED_MIN ? undefined : this.#nodes.find((node) => node.tools === tools)?.ahead;
  }

  #node(tools: ToolLatency): Node {
    const found = this.#nodes.find((node) => node.tools === tools);
    if (found !== undefined) return found;
    const made = new Node(tools);
    if (this.#nodes.length < NODES_MAX) this.#nodes.push(made);
    else this.#nodes[this.#leastVisited()] = made;
    return made;
  }

  #leastVisited(): number {
    return this.#nodes.reduce((least, { visits }, at) => (visits < (this.#nodes[least]?.visits ?? 0) ? at : least), 0);
  }
}
