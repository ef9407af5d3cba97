import { fill, hashesOf, outlineOf, planOf, type BatchLine, type Outline, type Plan } from '../../plans/index.js';
import { parseLine } from '../../sidecar/batches/lines.js';
import { Engine, HashList, type Preset, type Sequence, type Work } from '../../sim/index.js';
import { textOf, type FileLine } from './workflows.js';

const BLOCK_TOKENS = 16;
const CHARS_PER_TOKEN = 4;
const BLOCK_CHARS = BLOCK_TOKENS * CHARS_PER_TOKEN;

/** A file of lines, checked and planned. */
export interface Job {
  readonly files: readonly FileLine[];
  readonly lines: readonly BatchLine[];
  readonly outlines: readonly Outline[];
  readonly plan: Plan;
}

/** Lines that may start, those under way, and what an engine was sent last. */
export interface State {
  readonly ready: ReadonlySet<number>;
  readonly inFlight: readonly number[];
  readonly last: number | undefined;
  /** The engine, of this many. */
  readonly engine: number;
  readonly engines: number;
}

/** An order of lines: the next one for an engine with room; undefined: none may start now. */
export type Order = (job: Job, state: State) => number | undefined;

export interface Setting {
  readonly preset: Preset;
  readonly engines: number;
  /** Most lines on an engine. */
  readonly parallel: number;
}

class Call implements Work {
  readonly promptTokens: number;
  readonly blockHashes: HashList;

  constructor(
    readonly index: number,
    prompt: string,
    answer: string,
    readonly outputTokens: number,
  ) {
    this.promptTokens = Math.ceil(prompt.length / CHARS_PER_TOKEN);
    this.blockHashes = new HashList([...hashesOf(prompt + answer, BLOCK_CHARS)]);
  }
}

export function jobOf(files: readonly FileLine[]): Job {
  const lines = files.map(({ text }, at) => parseLine(Buffer.from(text), at + 1)) as BatchLine[];
  const outlines = lines.map((line, at) => outlineOf(line, at + 1));
  const steps = planOf(outlines);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return { files, lines, outlines, plan: step.value };
}

/** Runs all lines on model engines in virtual time. Answers are made up, the same for a line in every order. */
export function play(job: Job, order: Order, { preset, engines: count, parallel }: Setting) {
  const { files, lines, plan } = job;
  const engines = Array.from({ length: count }, (_, at) => ({
    at,
    engine: new Engine<Call>({ preset, blockSize: BLOCK_TOKENS }),
    running: new Map<Sequence<Call>, number>(),
    last: undefined as number | undefined,
  }));
  const answers = files.map(({ customId, outputTokens }) => ({ choices: [{ message: { content: textOf(customId, outputTokens) } }] })); // prettier-ignore
  const byId = new Map(files.map(({ customId }, index) => [customId, index]));
  const missing = plan.needs.map(({ length }) => length);
  const ready = new Set(missing.flatMap((left, index) => (left === 0 ? [index] : [])));
  const promptOf = (index: number): string => {
    const { body, after } = lines[index] as BatchLine;
    const filled = fill(body['messages'], after, (id) => answers[byId.get(id) ?? -1]) as { content: string }[];
    return filled.map(({ content }) => content).join('\u0001');
  };
  let nowMs = 0;
  let left = files.length;
  const ended = (index: number): void => {
    left -= 1;
    for (const next of plan.dependents[index] ?? []) {
      if ((missing[next] = (missing[next] ?? 0) - 1) === 0) ready.add(next);
    }
  };
  const dispatch = (): void => {
    for (let isGoing = true; isGoing;) {
      isGoing = false;
      for (const each of engines.toSorted((a, b) => a.running.size - b.running.size)) {
        if (each.running.size >= parallel) continue;
        const inFlight = engines.flatMap(({ running }) => [...running.values()]);
        const index = order(job, { ready, inFlight, last: each.last, engine: each.at, engines: count });
        if (index === undefined) continue;
        ready.delete(index);
        const answer = answers[index]?.choices[0]?.message.content ?? '';
        const call = new Call(index, promptOf(index), answer, files[index]?.outputTokens ?? 1);
        each.running.set(each.engine.add(call, nowMs) as Sequence<Call>, index);
        each.last = index;
        each.engine.cut(nowMs);
        isGoing = true;
        break;
      }
    }
  };
  while (left > 0) {
    dispatch();
    for (const { engine } of engines) if (Number.isNaN(engine.stepEnd)) engine.begin(nowMs, Infinity);
    nowMs = Math.min(...engines.map(({ engine }) => (Number.isNaN(engine.stepEnd) ? Infinity : engine.stepEnd)));
    for (const { engine, running } of engines) {
      if (engine.stepEnd !== nowMs) continue;
      for (const sequence of engine.end()) {
        if (sequence.state !== 'finished') continue;
        running.delete(sequence);
        ended(sequence.work.index);
      }
    }
  }
  const sum = (key: 'hitTokens' | 'queriedTokens') => engines.reduce((all, { engine }) => all + engine.totals[key], 0);
  return { seconds: nowMs / 1000, hits: sum('hitTokens') / sum('queriedTokens') };
}
