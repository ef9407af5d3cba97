/**
 * A model on a machine, as constants of a roofline: the cost of a step, and the limits. Sizes of the model come from
 * its published configuration and peaks from the vendor's data sheet. The efficiencies and overheads bridge the gap
 * between a peak and a served model: `brackets` below names their sources.
 */
export interface Preset {
  readonly model: string;
  /** Bytes of weights that one step reads, whatever its batch. */
  readonly weightBytes: number;
  /**
   * For a mixture of experts: the weights of which a step reads a part, depending on its tokens. Absent: a dense model.
   */
  readonly experts?: Experts | undefined;
  /** Floating-point operations of the linear layers, per token; for a mixture, those of the chosen experts. */
  readonly flopsPerToken: number;
  /** Floating-point operations of attention, per token and token of its context; more where it attains a lower rate. */
  readonly attentionFlops: number;
  /** Bytes of KV cache that one token takes, and that each later token of its sequence reads back. */
  readonly kvBytesPerToken: number;
  /** Operations per second that the linear layers and attention attain. */
  readonly flopsPerSecond: number;
  /** Bytes per second that memory reads attain. */
  readonly bytesPerSecond: number;
  /** Fixed time of a step: scheduling, kernel launches, sampling. */
  readonly stepOverheadMs: number;
  /** Further time of a step per sequence in it: input preparation and detokenisation. */
  readonly sequenceOverheadMs: number;
  /** Bytes per second that copies to host memory attain, each way; absent: unknown. */
  readonly hostBytesPerSecond?: number | undefined;
  readonly kvTokens: number;
  /** Most tokens that a step computes (`max_num_batched_tokens`). */
  readonly batchTokens: number;
  /** Most sequences in a step (`max_num_seqs`). */
  readonly slots: number;
  /** Longest prompt and answer together. */
  readonly maxModelLen: number;
}

/** The experts of all layers together. Each layer has the same number and chooses the same number for a token. */
interface Experts {
  readonly bytes: number;
  readonly total: number;
  readonly perToken: number;
}

/**
 * Llama-3.1-8B in bfloat16. Its config.json: 32 layers, hidden 4096, 32 heads, 8 KV heads of 128, vocabulary 128,256,
 * 8.03 G parameters, context 131,072. The input embedding (0.525 G parameters) is looked up, not read whole.
 */
const LLAMA_8B = {
  model: 'llama-3.1-8b',
  weightBytes: 7.505e9 * 2,
  flopsPerToken: 2 * 7.505e9,
  // Scores and their weighted sum: 2 products of 2 operations each, over hidden 4096, in 32 layers.
  attentionFlops: 4 * 4096 * 32,
  // Key and value, 32 layers, 8 heads of 128, 2 bytes.
  kvBytesPerToken: 2 * 32 * 8 * 128 * 2,
  maxModelLen: 131_072,
};

/**
 * Llama-3.3-70B in bfloat16. Its config.json: 80 layers, hidden 8192, intermediate 28,672, 64 heads, 8 KV heads of 128,
 * vocabulary 128,256, 70.55 G parameters, context 131,072; less the input embedding (1.05 G).
 */
const LLAMA_70B = {
  model: 'llama-3.3-70b',
  weightBytes: 69.5e9 * 2,
  flopsPerToken: 2 * 69.5e9,
  attentionFlops: 4 * 8192 * 80,
  kvBytesPerToken: 2 * 80 * 8 * 128 * 2,
  maxModelLen: 131_072,
};

/**
 * Qwen3-Coder-30B-A3B in bfloat16. Its config.json: 48 layers, hidden 2048, 32 heads of 128, 4 KV heads, vocabulary
 * 151,936, 128 experts of intermediate 768, 8 for a token, context 262,144. That makes 1.23 G parameters of attention,
 * routers and output head, and 28.99 G of experts, of which a token goes through 1.81 G; the input embedding is 0.31 G.
 */
const QWEN3_CODER_30B = {
  model: 'qwen3-coder-30b-a3b',
  weightBytes: 1.23e9 * 2,
  experts: { bytes: 28.99e9 * 2, total: 128, perToken: 8 },
  flopsPerToken: 2 * (1.23e9 + 1.81e9),
  // Over 32 heads of 128, which together are wider than the hidden size.
  attentionFlops: 4 * 32 * 128 * 48,
  kvBytesPerToken: 2 * 48 * 4 * 128 * 2,
  maxModelLen: 262_144,
};

/** An assumption: copies of whole KV blocks between GPU and pinned host memory attain 80 % of a PCIe link. */
const LINK_SHARE = 0.8;
/**
 * A100 80 GB SXM data sheet: 312 TFLOPS bfloat16 dense, 2,039 GB/s, PCIe 4.0 x16, which is 31.5 GB/s each way.
 * `batchTokens` and `slots`: vLLM's default for it.
 */
const A100 = {
  flops: 312e12,
  bytes: 2039e9,
  limits: { batchTokens: 2048, slots: 256, hostBytesPerSecond: 31.5e9 * LINK_SHARE },
};
/**
 * H100 SXM data sheet: 989 TFLOPS bfloat16 dense, 3,350 GB/s, PCIe 5.0 x16, which is 63 GB/s each way. `batchTokens` and
 * `slots`: vLLM's default for it.
 */
const H100 = {
  flops: 989e12,
  bytes: 3350e9,
  limits: { batchTokens: 8192, slots: 1024, hostBytesPerSecond: 63e9 * LINK_SHARE },
};

/** Shares of the data sheet's peaks that a served model attains: in the linear layers of a prefill, and in reads. */
interface Attained {
  readonly flops: number;
  readonly bytes: number;
}

/**
 * A preset at three efficiencies. How fast a prompt is computed decides what a saved one is worth, and published
 * measurements differ by up to 1.6 times, so results come as a range:
 * - `high`: aiconfigurator's measured kernels of vLLM 0.14 (A100) and 0.24 (H100), each alone, with nothing between them;
 * - the default: in prefill those over 1.2 (8B) or 1.35 (70B), as AgentServeSim measured whole steps of vLLM 0.19 to take
 *   so many times their kernels; in decode what whole servers of vLLM 0.22 and 0.23 attain;
 * - `low`: in prefill the slowest that was measured through a whole server, by Splitwise on vLLM of 2023.
 */
function brackets<Name extends string>(
  name: Name,
  preset: Omit<Preset, 'flopsPerSecond' | 'bytesPerSecond'>,
  machine: { readonly flops: number; readonly bytes: number },
  { low, middle, high }: Readonly<Record<'low' | 'middle' | 'high', Attained>>,
): Readonly<Record<Name | `${Name}:low` | `${Name}:high`, Preset>> {
  const at = ({ flops, bytes }: Attained): Preset => ({
    ...preset,
    flopsPerSecond: machine.flops * flops,
    bytesPerSecond: machine.bytes * bytes,
  });
  const named = { [name]: at(middle), [`${name}:low`]: at(low), [`${name}:high`]: at(high) };
  return named as Record<Name | `${Name}:low` | `${Name}:high`, Preset>;
}

const PRESET_TABLE = {
  ...brackets(
    'llama-3.1-8b-a100',
    {
      ...LLAMA_8B,
      ...A100.limits,
      // Kernels: attention of a prefill attains 56 % of the peak, two thirds of what the linear layers do.
      attentionFlops: LLAMA_8B.attentionFlops / 0.65,
      stepOverheadMs: 1.5,
      sequenceOverheadMs: 0.01,
      // gpu_memory_utilization 0.9 of 79.2 GiB, less 15.0 GiB of weights and about 3.4 GiB of activations and graphs,
      // over 128 KiB a token.
      kvTokens: 432_000,
    },
    A100,
    // Reads: 0.8 is what 75 tokens a second on an A100 of 40 GB come to, after the overheads above.
    { low: { flops: 0.68, bytes: 0.8 }, middle: { flops: 0.72, bytes: 0.8 }, high: { flops: 0.86, bytes: 0.69 } },
  ),
  ...brackets(
    'llama-3.1-8b-h100',
    {
      ...LLAMA_8B,
      ...H100.limits,
      // Kernels: 60 % of the peak, against 75 %.
      attentionFlops: LLAMA_8B.attentionFlops / 0.8,
      // A faster host.
      stepOverheadMs: 1.2,
      sequenceOverheadMs: 0.008,
      // As above: the same 80 GB.
      kvTokens: 432_000,
    },
    H100,
    // Reads: 0.85 is what 6.48 ms a token at one stream come to; the kernels' are within 7 % of it.
    { low: { flops: 0.47, bytes: 0.85 }, middle: { flops: 0.62, bytes: 0.85 }, high: { flops: 0.75, bytes: 0.85 } },
  ),
  // Four GPUs that each hold a quarter of every layer. All-reduces take a fifth of a prefill, so they are in its rate.
  ...brackets(
    'llama-3.3-70b-tp4-h100',
    {
      ...LLAMA_70B,
      ...H100.limits,
      hostBytesPerSecond: 4 * H100.limits.hostBytesPerSecond,
      // As on one GPU, and two all-reduces a layer that take about 10 µs each whatever their size.
      stepOverheadMs: 1.2 + 2 * 80 * 0.01,
      sequenceOverheadMs: 0.008,
      // Four times 0.9 of 79.2 GiB, less 131.4 GiB of weights and four times about 3.4 GiB, over 320 KiB a token.
      kvTokens: 459_000,
    },
    { flops: 4 * H100.flops, bytes: 4 * H100.bytes },
    // Reads: 0.8 is what 16.05 ms a token of a 72B model on H100s come to.
    { low: { flops: 0.34, bytes: 0.8 }, middle: { flops: 0.42, bytes: 0.8 }, high: { flops: 0.56, bytes: 0.8 } },
  ),
  // On one H100.
  ...brackets(
    'qwen3-coder-30b-a3b',
    {
      ...QWEN3_CODER_30B,
      ...H100.limits,
      // Kernels: routing adds about 20 µs to each of 48 layers.
      stepOverheadMs: 1.2 + 48 * 0.02,
      sequenceOverheadMs: 0.008,
      // 0.9 of 79.2 GiB, less 56.9 GiB of weights and about 3.4 GiB of activations and graphs, over 96 KiB a token: less
      // than the model's own context.
      kvTokens: 120_000,
    },
    H100,
    // No server of a mixture was measured: `low` loses to the kernels what a dense model does.
    { low: { flops: 0.34, bytes: 0.85 }, middle: { flops: 0.45, bytes: 0.85 }, high: { flops: 0.54, bytes: 0.85 } },
  ),
  // A 36 M parameter Llama (hidden 512, 8 layers, 8 heads, 4 KV heads of 64) under vLLM 0.32 on one CPU core. Fitted to
  // measurements there: 92, 319, 624 and 1,041 tokens a second at 1, 4, 8 and 16 streams, a prefill of 4,096 tokens in
  // 1.06 s. The fit is within 8 % of the rates and the prefill. On a slower core, docs/TRUST.md.
  'tiny-cpu': {
    model: 'tiny',
    weightBytes: 36e6 * 2,
    flopsPerToken: 2 * 36e6,
    attentionFlops: 4 * 512 * 8,
    kvBytesPerToken: 2 * 8 * 4 * 64 * 2,
    flopsPerSecond: 420e9,
    bytesPerSecond: 20e9,
    stepOverheadMs: 7,
    sequenceOverheadMs: 0.27,
    kvTokens: 12_800,
    batchTokens: 1024,
    slots: 8,
    maxModelLen: 8192,
  },
} satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESET_TABLE;
export const PRESETS: Readonly<Record<PresetName, Preset>> = PRESET_TABLE;
export const PRESET_NAMES = Object.keys(PRESET_TABLE) as [PresetName, ...PresetName[]];
export const DEFAULT_PRESET: PresetName = 'llama-3.1-8b-a100';
