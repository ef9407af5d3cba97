import type { Preset } from './presets.js';

/** The work of one step, summed over its sequences. */
export interface StepWork {
  sequences: number;
  tokens: number;
  /** Pairs of a computed token and a token that it attends to. */
  attended: number;
  /** Tokens of KV cache read. */
  context: number;
}

/**
 * Time of a step in milliseconds. The linear layers and attention run in sequence; each takes as long as the slower of
 * its arithmetic and its memory reads. In a mixture of experts the two add up: each expert is a product of few rows,
 * behind which its reads do not hide. The fixed overhead follows.
 */
export function stepMs(preset: Preset, work: StepWork): number {
  const arithmetic = (work.tokens * preset.flopsPerToken) / preset.flopsPerSecond;
  const reads = weightBytesRead(preset, work.tokens) / preset.bytesPerSecond;
  const linear = preset.experts === undefined ? Math.max(arithmetic, reads) : arithmetic + reads;
  const attention = Math.max(
    (work.attended * preset.attentionFlops) / preset.flopsPerSecond,
    (work.context * preset.kvBytesPerToken) / preset.bytesPerSecond,
  );
  return (linear + attention) * 1000 + preset.stepOverheadMs + work.sequences * preset.sequenceOverheadMs;
}

/**
 * Time that one more token of context adds to a decode step, in milliseconds. Such a step attends to as many tokens as
 * it reads, so the same one of arithmetic and reads is slower at every length. Its time is therefore linear in the
 * context.
 */
export function contextMs(preset: Preset): number {
  const seconds = Math.max(
    preset.attentionFlops / preset.flopsPerSecond,
    preset.kvBytesPerToken / preset.bytesPerSecond,
  );
  return seconds * 1000;
}

/**
 * Bytes of weights that a step of this many tokens reads. Of a mixture's experts it reads those chosen by at least one
 * token: with k of E chosen at random by each of n tokens, a share 1 - (1 - k/E)^n on average.
 */
function weightBytesRead({ weightBytes, experts }: Preset, tokens: number): number {
  if (experts === undefined) return weightBytes;
  // No `**`, whose last digit differs between versions of Node.
  const spared = tokens === 0 ? 1 : Math.exp(tokens * Math.log1p(-experts.perToken / experts.total));
  return weightBytes + experts.bytes * (1 - spared);
}
