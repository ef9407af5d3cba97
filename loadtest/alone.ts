import { randomInt } from 'node:crypto';
import type { Calibration } from './calibrate.js';
import type { AloneSpeed } from './load.js';
import type { Prober } from './prober.js';

const SHORT_TOKENS = 64;
const LONG_TOKENS = 2048;
const OUTPUT_TOKENS = 17;
/** Tries of each call, of which the fastest counts: disturbances only make a call slower. */
const TRIES = 2;

/**
 * Speed of a call that has the target to itself: a line through calls with a long prompt, with a long answer, and with
 * neither. Undefined where answers cannot be counted.
 */
export async function measureAlone(
  prober: Prober,
  { words }: Calibration,
  maxModelLen = Infinity,
): Promise<AloneSpeed | undefined> {
  const longTokens = Math.max(2 * SHORT_TOKENS, Math.min(LONG_TOKENS, Math.floor(maxModelLen / 2)));
  // New texts in every run, as a target may have cached earlier ones.
  let seed = randomInt(2 ** 31);
  const time = async (promptTokens: number, outputTokens: number) => {
    let best = { ms: Infinity, prompt: NaN, output: NaN };
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const text = words.text({ seed: (seed += 1), words: words.wordsFor(promptTokens) });
      const startedAt = performance.now();
      const item = prober.api.item({ role: 'user', text, isPlain: true });
      const { answer, endedAt, outcome } = await prober.call({ items: [item], outputTokens });
      if (outcome !== 'completed') continue;
      const ms = endedAt - startedAt;
      if (ms < best.ms) best = { ms, prompt: answer.promptTokens, output: answer.outputTokens };
    }
    return best;
  };
  const plain = await time(SHORT_TOKENS, 1);
  const spoken = await time(SHORT_TOKENS, OUTPUT_TOKENS);
  const read = await time(longTokens, 1);
  const outputTokenMs = slope(spoken.ms - plain.ms, spoken.output - plain.output);
  const promptTokenMs = slope(read.ms - plain.ms, read.prompt - plain.prompt);
  const overheadMs = plain.ms - plain.prompt * promptTokenMs - plain.output * outputTokenMs;
  if (Number.isNaN(overheadMs)) return undefined;
  return { overheadMs: Math.max(0, overheadMs), promptTokenMs, outputTokenMs };
}

/** Tokens of the call by which speeds are compared. */
const TYPICAL = { prompt: 2048, output: 256 };

/**
 * The speed on which all slowdowns of a run are based: that of the fastest target. Two targets with baselines of their own would
 * differ by the errors of a dozen calls, and one behind a slow gateway would look as if it slowed nothing.
 */
export function baselineOf(speeds: readonly (AloneSpeed | undefined)[]): AloneSpeed | undefined {
  const typicalMs = ({ overheadMs, promptTokenMs, outputTokenMs }: AloneSpeed): number =>
    overheadMs + TYPICAL.prompt * promptTokenMs + TYPICAL.output * outputTokenMs;
  return speeds
    .filter((speed) => speed !== undefined)
    .reduce<AloneSpeed | undefined>(
      (best, each) => (best && typicalMs(best) <= typicalMs(each) ? best : each),
      undefined,
    );
}

const slope = (ms: number, tokens: number): number => (tokens > 0 ? Math.max(0, ms / tokens) : NaN);
