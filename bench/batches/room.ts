import { makeBalancer } from '../../loadbalancer/index.js';
import { loadConfig } from '../../sidecar/config/load.js';
import { makeSteps, PRESETS, runWorld, type CallRecord, type ProgramRecord } from '../../sim/index.js';
import { arrivalTimes, Dice, inChain, openWorkload, programs, type AgentProgram } from '../../workloads/index.js';
import { percentile, printTable, ratio, say, show } from '../numbers.js';

/** Room that the lines of a batch take beside the calls of people and agents, and their cost to these. */

const ENGINES = 2;
const OFFICE = 'examples/workloads/office.yaml';
/** Saturation: programs of `OFFICE` a second that these engines finish with a long queue. */
const CONCURRENCY = 100;
/** Programs that come, as a part of saturation. */
const LOAD = 0.7;
/** A line: a question over a document, with instructions that all share. */
const LINE = { shared: 512, promptTokens: 1200, outputTokens: 160 };
/** Longest span over which the lines of a batch alone are counted. */
const ALONE_MS = 60_000;
const PRESET = PRESETS['llama-3.1-8b-a100'];
/** As the gateway reads it of a vLLM: its own limit is the window. */
const loaded = loadConfig({});
/** Lines under way at once, as in the gateway: beside others few wait, and alone the engines take all that may be. */
const LANES = 32;
const LANES_ALONE = loaded.batches.inFlightMax;
const config = { ...loaded, admission: { ...loaded.admission, window: PRESET.slots } };

interface Load {
  /** Programs of people and agents, with their times; absent: none. */
  readonly people?: readonly AgentProgram[];
  /** Whether a batch that never ends runs beside them. */
  readonly hasBatch?: boolean;
  /** Further calls at the start, which change nothing but chance. */
  readonly more?: number;
  readonly share?: number;
  /** Whether lines are calls like any others. */
  readonly isPlain?: boolean;
  /** Milliseconds over which lines are counted. */
  readonly spanMs: number;
}

interface Outcome {
  readonly programs: readonly ProgramRecord[];
  readonly firstTokenMs: readonly number[];
  /** Lines that ended within the span. */
  readonly lines: number;
}

const { shared, promptTokens, outputTokens } = LINE;

/** Calls of lines one after the other, each line with a context of its own. */
const callsOf = (lines: number): AgentProgram['calls'] =>
  inChain(
    Array.from({ length: lines }, (_, line) => ({
      gapMs: 0,
      thread: `${line}`,
      promptTokens,
      outputTokens,
      prefix: { name: 'batch', tokens: shared },
    })),
  );

const laneOf = (index: number, lines: number, isPlain: boolean): AgentProgram => ({
  id: `line${index}`,
  arrivalMs: 0,
  calls: callsOf(lines),
  ...(!isPlain && { background: true as const }),
});

function* mixed({ people = [], hasBatch = false, isPlain = false, more = 0, spanMs }: Load): Generator<AgentProgram> {
  // Four times the fastest that the engines take.
  const lines = hasBatch ? Math.ceil((ENGINES * spanMs) / 25) : 0;
  const lanes = isPlain ? LANES_ALONE : LANES;
  for (let index = 0; hasBatch && index < lanes; index++) yield laneOf(index, Math.ceil(lines / lanes), isPlain);
  for (let index = 0; index < more; index++) yield laneOf(index, 1, true);
  yield* people;
}

function play(load: Load, seed: number): Outcome {
  const { people = [], share = config.admission.backgroundShare, spanMs } = load;
  const ended: ProgramRecord[] = [];
  const firstTokenMs: number[] = [];
  let [lines, isOver] = [0, false];
  const settings = {
    ...config,
    admission: { ...config.admission, backgroundShare: share },
    limits: { ...config.limits, queuedMax: 1e8, queuedPerTenantMax: 1e8, programsMax: 1e8 },
  };
  const callEnded = ({ program, outputTokens: output, arrivedMs, firstTokenMs: first, endedMs }: CallRecord): void => {
    if (program.startsWith('line')) lines += output > 0 && endedMs <= spanMs ? 1 : 0;
    else firstTokenMs.push(first - arrivedMs);
    isOver ||= people.length === 0 && endedMs > spanMs;
  };
  const programEnded = (record: ProgramRecord): void => {
    if (record.program.startsWith('line')) return;
    ended.push(record);
    isOver ||= ended.length === people.length;
  };
  runWorld({
    programs: mixed(load),
    arrivals: { type: 'trace', speed: 1 },
    seed,
    engines: ENGINES,
    engine: { preset: PRESET, blockSize: 16 },
    scheduler: () => makeSteps('plas', settings, makeBalancer(config.balancer)),
    observer: { callEnded, programEnded },
    alone: false,
    shouldStop: () => isOver,
  });
  return { programs: ended, firstTokenMs, lines };
}

const office = (seed: number, count: number): AgentProgram[] => {
  const source = programs(openWorkload(OFFICE), seed)[Symbol.iterator]();
  return Array.from({ length: count }, () => source.next().value);
};

/** Programs a second that the engines finish while many are under way. */
function saturation(seed: number, count: number): number {
  const ended: number[] = [];
  runWorld({
    programs: office(seed, count),
    arrivals: { type: 'closed', concurrency: CONCURRENCY },
    seed,
    engines: ENGINES,
    engine: { preset: PRESET, blockSize: 16 },
    scheduler: () => makeSteps('plas', config, makeBalancer(config.balancer)),
    observer: { programEnded: ({ endedMs }) => ended.push(endedMs) },
    alone: false,
  });
  ended.sort((a, b) => a - b);
  // Between the first and the last quarter, when all places are taken.
  const [from, to] = [Math.floor(ended.length / 4), Math.floor((3 * ended.length) / 4)];
  return (1000 * (to - from)) / ((ended[to] ?? NaN) - (ended[from] ?? NaN));
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Programs at this part of saturation, with their times. */
function arriving(seed: number, count: number, ratePerSecond: number): AgentProgram[] {
  const times = arrivalTimes({ type: 'open', ratePerSecond, cv: 1 }, new Dice(seed + 1000));
  return office(seed, count).map((program) => ({ ...program, arrivalMs: times.next().value as number }));
}

/** Outcomes of several seeds as one. */
function pooled(outcomes: readonly Outcome[], spansMs: number) {
  const times = outcomes.flatMap(({ programs: each }) => each.map(({ arrivedMs, endedMs }) => endedMs - arrivedMs));
  const first = outcomes.flatMap(({ firstTokenMs }) => firstTokenMs);
  const lines = outcomes.reduce((sum, each) => sum + each.lines, 0);
  return [mean(times), percentile(first, 0.5), percentile(first, 0.95), (1000 * lines) / spansMs];
}

export function benchRoom(quick: boolean): void {
  const most = saturation(1, 3 * CONCURRENCY);
  say(`office on ${ENGINES} engines: ${show(most)} programs a second at saturation; load ${LOAD}`);
  const seeds = quick ? [1] : [1, 2, 3, 4, 5, 6];
  const loads = seeds.map((seed) => {
    const people = arriving(seed, quick ? 150 : 500, LOAD * most);
    return { seed, people, spanMs: people.at(-1)?.arrivalMs ?? 0 };
  });
  const spansMs = loads.reduce((sum, { spanMs }) => sum + spanMs, 0);
  const run = (more: Partial<Load>) =>
    pooled(loads.map(({ seed, people, spanMs }) => play({ people, spanMs, ...more }, seed)), spansMs); // prettier-ignore
  const chances = (quick ? [0, 1] : [0, 1, 2, 3]).map((more) => run({ more }));
  const alone = [0, 1, 2].map((at) => mean(chances.map((figures) => figures[at] ?? NaN)));
  const rate = (1000 * play({ hasBatch: true, isPlain: true, spanMs: ALONE_MS }, 1).lines) / ALONE_MS;
  const row = (name: string, figures: readonly number[]) => [
    name,
    ...alone.map((base, at) => ratio((figures[at] ?? NaN) / base)),
    show((100 * (figures[3] ?? NaN)) / rate, '%'),
    show((100 * (figures[3] ?? NaN)) / (rate * (1 - LOAD)), '%'),
  ];
  const rows = [
    ...chances.map((figures, more) => row(`no batch, ${more} more calls`, [...figures.slice(0, 3), 0])),
    ...(quick ? [0.1] : [0, 0.05, 0.1, 0.15, 0.2, 0.4]).map((share) =>
      row(`share ${share}`, run({ hasBatch: true, share })),
    ),
  ];
  printTable(
    ['beside people and agents', 'program', 'first token p50', 'p95', 'lines of those alone', 'of the room'],
    rows,
  );
}
