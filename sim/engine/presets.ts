/**
 * A model on a machine, as constants of a roofline: what one step costs, and how much fits.
 * Sizes of the model come from its published configuration and peaks from the vendor's data sheet. The two
 * efficiencies and the overheads are what lies between a peak and a served model: fitted where the comment says so,
 * else customary values for a well-tuned server.
 */
export interface Preset {
  /** Name under which the model is served. */
  readonly model: string;
  /** Bytes of weights that one step reads, whatever its batch. */
  readonly weightBytes: number;
  /** Floating-point operations of the linear layers, per token. */
  readonly flopsPerToken: number;
  /** Floating-point operations of attention, per token and token of its context. */
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
  /** Tokens that the KV cache holds. */
  readonly kvTokens: number;
  /** Tokens a step may compute (`max_num_batched_tokens`). */
  readonly batchTokens: number;
  /** Sequences a step may hold (`max_num_seqs`). */
  readonly slots: number;
  /** Longest prompt and answer together. */
  readonly maxModelLen: number;
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

const PRESET_TABLE = {
  'llama-3.1-8b-a100': {
    ...LLAMA_8B,
    // A100 80 GB SXM data sheet: 312 TFLOPS bfloat16 dense, 2,039 GB/s. Half the peak in prefill and 80 % of the
    // bandwidth in decode are customary.
    flopsPerSecond: 312e12 * 0.5,
    bytesPerSecond: 2039e9 * 0.8,
    stepOverheadMs: 1.5,
    sequenceOverheadMs: 0.01,
    // gpu_memory_utilization 0.9 of 79.2 GiB, less 15.0 GiB of weights and about 3.4 GiB of activations and graphs,
    // over 128 KiB a token.
    kvTokens: 432_000,
    // vLLM's own defaults for a server on this GPU.
    batchTokens: 2048,
    slots: 256,
  },
  'llama-3.1-8b-h100': {
    ...LLAMA_8B,
    // H100 SXM data sheet: 989 TFLOPS bfloat16 dense, 3,350 GB/s; efficiencies as above.
    flopsPerSecond: 989e12 * 0.5,
    bytesPerSecond: 3350e9 * 0.8,
    stepOverheadMs: 1.2,
    sequenceOverheadMs: 0.008,
    // As above: the same 80 GB.
    kvTokens: 432_000,
    // vLLM's own defaults for a server on this GPU.
    batchTokens: 8192,
    slots: 1024,
  },
  // A 36 M parameter Llama (hidden 512, 8 layers, 8 heads, 4 KV heads of 64) under vLLM 0.32 on one CPU core.
  // Fitted to what was measured there: 92, 319, 624 and 1,041 tokens a second at 1, 4, 8 and 16 streams, a prefill of
  // 4,096 tokens in 1.06 s. The fit is within 8 % of the rates and the prefill.
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
