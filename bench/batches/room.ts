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
/** A line: a question over a document, with instructions that all share. */
const LINE = { shared: 512, promptTokens: 1200, outputTokens: 160 };
const PRESET = PRESETS['llama-3.1-8b-a100'];
/** As the gateway reads it of a vLLM: its own limit is the window. */
const loaded = loadConfig({});
const config = { ...loaded, admission: { ...loaded.admission, window: PRESET.slots } };

interface Load {
  /** Programs of people and agents, with their times; absent: none. */
  readonly people?: readonly AgentProgram[];
  /** Whether a batch that never ends runs beside them. */
  readonly hasBatch?: boolean;
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
  /** Share of the span in which engines computed. */
  readonly busy: number;
}

function lineOf(index: number, isPlain: boolean): AgentProgram {
  const { shared, promptTokens, outputTokens } = LINE;
  const call = { gapMs: 0, promptTokens, outputTokens, prefix: { name: 'batch', tokens: shared } };
  return { id: `line${index}`, arrivalMs: 0, calls: inChain([call]), ...(!isPlain && { background: true as const }) };
}

/** The lines are there from the start: as many as four times the fastest that the engines take. */
function* mixed({ people = [], hasBatch = false, isPlain = false, spanMs }: Load): Generator<AgentProgram> {
  const lines = hasBatch ? Math.ceil((ENGINES * spanMs) / 25) : 0;
  for (let index = 0; index < lines; index++) yield lineOf(index, isPlain);
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
  const callEnded = ({ program, arrivedMs, firstTokenMs: first, endedMs }: CallRecord): void => {
    if (program.startsWith('line')) lines += endedMs <= spanMs ? 1 : 0;
    else firstTokenMs.push(first - arrivedMs);
    isOver ||= people.length === 0 && endedMs > spanMs;
  };
  const programEnded = (record: ProgramRecord): void => {
    if (record.program.startsWith('line')) return;
    ended.push(record);
    isOver ||= ended.length === people.length;
  };
  const { engines } = runWorld({
    programs: mixed(load),
    arrivals: { type: 'trace', speed: 1 },
    seed,
    engines: ENGINES,
    engine: { preset: PRESET, blockSize: 16, scheduling: 'fcfs' },
    scheduler: () => makeSteps('plas', settings, makeBalancer(config.balancer)),
    observer: { callEnded, programEnded },
    alone: false,
    shouldStop: () => isOver,
  });
  return {
    programs: ended,
    firstTokenMs,
    lines,
    busy: engines.reduce((sum, { busyMs }) => sum + busyMs, 0) / (ENGINES * spanMs),
  };
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
    engine: { preset: PRESET, blockSize: 16, scheduling: 'fcfs' },
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

export function benchRoom(quick: boolean): void {
  const most = saturation(1, 3 * CONCURRENCY);
  say(`office on ${ENGINES} engines: ${show(most)} programs a second at saturation`);
  for (const load of quick ? [0.7] : [0.4, 0.7]) {
    const people = arriving(1, quick ? 150 : 500, load * most);
    const spanMs = people.at(-1)?.arrivalMs ?? 0;
    const alone = play({ people, spanMs }, 1);
    const batch = play({ hasBatch: true, isPlain: true, spanMs }, 1);
    const times = (of: Outcome) => mean(of.programs.map(({ arrivedMs, endedMs }) => endedMs - arrivedMs));
    const row = (name: string, both: Outcome) => [
      name,
      ratio(times(both) / times(alone)),
      ...[0.5, 0.95].map((p) => ratio(percentile(both.firstTokenMs, p) / percentile(alone.firstTokenMs, p))),
      show((100 * both.lines) / batch.lines, '%'),
    ];
    const rows = (quick ? [0.05] : [0, 0.1, 0.25, 0.5]).map((share) =>
      row(`background, share ${share}`, play({ people, hasBatch: true, spanMs, share }, 1)),
    );
    const plain = row('as any other calls', play({ people, hasBatch: true, isPlain: true, spanMs }, 1));
    printTable([`load ${load}`, 'program', 'first token p50', 'p95', 'lines of those alone'], [...rows, plain]);
  }
}
