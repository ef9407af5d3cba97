import { type BlockHashes, Engine, HashList, PRESETS, type Sequence, type Work } from '../../sim/index.js';
import { makeRandom, printTable, say, show } from '../numbers.js';

const BLOCK = 16;
const BATCHES = [64, 256];
/** Most steps of a stretch. */
const DRIVES = [
  { title: 'stretched', stepsMax: Infinity },
  { title: 'step by step', stepsMax: 1 },
];

/**
 * Cost of the engine model without any scheduler: conversations that continue one after the other, with all slots full.
 */
export function benchSteps(quick: boolean): void {
  const calls = quick ? 20_000 : 200_000;
  say(`One engine, ${PRESETS['llama-3.1-8b-a100'].model}, ${show(calls)} calls of 200 to 2,000 prompt tokens and 1 to 400 of output in
conversations of ten, always two waiting. Calls a second of CPU time.\n`);
  const rows = BATCHES.flatMap((batch) =>
    DRIVES.map(({ title, stepsMax }) => {
      const few = stepsMax === 1 ? calls / 10 : calls;
      drive(batch, stepsMax, few / 10);
      const { seconds, steps, hitShare } = drive(batch, stepsMax, few);
      return [
        `batch ${batch}, ${title}`,
        show(few / seconds),
        show((seconds * 1e6) / few),
        show(steps / seconds),
        show(hitShare * 100, ' %'),
      ];
    }),
  );
  printTable(['', 'calls/s', 'µs a call', 'steps/s', 'prefix hits'], rows);
}

function drive(slots: number, stepsMax: number, calls: number) {
  const engine = new Engine<Call>({
    preset: { ...PRESETS['llama-3.1-8b-a100'], slots },
    blockSize: BLOCK,
    scheduling: 'fcfs',
  });
  const conversations = new Conversations();
  // Made before the clock starts, so that only the engine is measured.
  const first = Array.from({ length: slots + 2 }, () => conversations.start());
  const startedAt = process.cpuUsage();
  for (const call of first) engine.add(call, 0);
  let [nowMs, left] = [0, calls - first.length];
  while (engine.begin(nowMs, stepsMax) !== undefined) {
    nowMs = engine.stepEnd;
    for (const sequence of engine.end()) {
      if (sequence.state !== 'finished' || left <= 0) continue;
      left -= 1;
      engine.add(conversations.next(sequence), nowMs);
    }
  }
  const { user, system } = process.cpuUsage(startedAt);
  const { steps, hitTokens, queriedTokens } = engine.totals;
  return { seconds: (user + system) / 1e6, steps, hitShare: hitTokens / queriedTokens };
}

interface Call extends Work {
  readonly turnsLeft: number;
  /** Hashes of the whole conversation to come, the same list for all its calls. */
  readonly blockHashes: BlockHashes;
}

class Conversations {
  readonly #random = makeRandom(1);
  #started = 0;

  start(): Call {
    this.#started += 1;
    const base = this.#started * 2 ** 20;
    const hashes = Float64Array.from({ length: 512 }, (_, index) => base + index);
    return this.#call(this.#int(200, 600), new HashList(hashes), 9);
  }

  next({ work }: Sequence<Call>): Call {
    if (work.turnsLeft === 0) return this.start();
    const promptTokens = work.promptTokens + work.outputTokens + this.#int(20, 120);
    return this.#call(promptTokens, work.blockHashes, work.turnsLeft - 1);
  }

  #call(promptTokens: number, blockHashes: BlockHashes, turnsLeft: number): Call {
    return { promptTokens, outputTokens: this.#int(1, 400), blockHashes, priority: 0, turnsLeft };
  }

  #int(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }
}
