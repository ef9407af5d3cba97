import type { PresetName } from '../../sim/index.js';

/** Step times that others published for the model and machine of a preset. */
export interface Published {
  readonly preset: PresetName;
  /** Steps of prefill alone. */
  readonly prefill: readonly (readonly [tokens: number, ms: number])[];
  /** Steps of decode alone. */
  readonly decode: readonly (readonly [sequences: number, contextOfEach: number, ms: number])[];
}

/**
 * Measured kernels, each alone, summed over the layers of a model: `kernels.py` beside this file prints these rows. From
 * aiconfigurator 0.12.0 (PyPI, Apache-2.0), whose tables are of vLLM 0.14 on an A100 and of vLLM 0.24 on an H100. No
 * time of a scheduler, sampler or launch is in them.
 */
export const KERNELS: readonly Published[] = [
  {
    preset: 'llama-3.1-8b-a100',
    prefill: [[512, 35.99], [1024, 64.73], [2048, 125.19], [4096, 258.7], [8192, 556.95], [16_384, 1314.83]], // prettier-ignore
    decode: [[1, 1024, 11.86], [8, 1024, 12.64], [32, 1024, 15.58], [64, 1024, 17.83], [128, 1024, 24.76], [1, 8192, 12.51], [8, 8192, 17.26], [32, 8192, 37.78], [1, 32_768, 14.65]], // prettier-ignore
  },
  {
    preset: 'llama-3.1-8b-h100',
    prefill: [[512, 12.02], [1024, 22.11], [2048, 43.51], [4096, 90.07], [8192, 199.72], [16_384, 440.22]], // prettier-ignore
    decode: [[1, 1024, 6.18], [8, 1024, 6.6], [32, 1024, 8.32], [64, 1024, 10.35], [128, 1024, 12.83], [1, 8192, 6.39], [8, 8192, 9.24], [32, 8192, 17.74], [1, 32_768, 7.91]], // prettier-ignore
  },
  {
    preset: 'llama-3.3-70b-tp4-h100',
    prefill: [[512, 37.31], [1024, 67.38], [2048, 130.18], [4096, 264.07], [8192, 576.76], [16_384, 1131.59]], // prettier-ignore
    decode: [[1, 1024, 14.86], [8, 1024, 16.1], [32, 1024, 16.91], [64, 1024, 19.09], [128, 1024, 22.8], [1, 8192, 15.19], [8, 8192, 17.82], [32, 8192, 23.55], [1, 32_768, 15.75]], // prettier-ignore
  },
  {
    preset: 'qwen3-coder-30b-a3b',
    prefill: [[512, 28.72], [1024, 33.9], [2048, 46.02], [4096, 77.24], [8192, 153.22], [16_384, 369.55]], // prettier-ignore
    decode: [[1, 1024, 4.68], [8, 1024, 10.49], [32, 1024, 20.78], [64, 1024, 24.18], [128, 1024, 28.34], [1, 8192, 4.85], [8, 8192, 12.54], [32, 8192, 27.93], [1, 32_768, 5.87]], // prettier-ignore
  },
];

/** Time that a whole server was measured to take for a step. */
export interface Measured extends Published {
  readonly source: string;
  /** Size of the measured model or bandwidth of its machine in terms of the preset's, where they differ. */
  readonly scale?: { readonly weights?: number; readonly bandwidth?: number };
}

export const SERVERS: readonly Measured[] = [
  {
    source: 'Splitwise, `data/perf_model.csv`: Llama-2-70B on 4 H100s, vLLM of 2023, medians of five',
    preset: 'llama-3.3-70b-tp4-h100:low',
    prefill: [[512, 59.6], [1024, 105.6], [2048, 200.7], [4096, 463.5], [8192, 953.6]], // prettier-ignore
    // Its decode takes 29.6 ms at one stream, without CUDA graphs; no preset imitates that.
    decode: [],
  },
  // BLIS publishes coefficients fitted to servers of vLLM 0.8.4: a time of a step, and one of a token of prefill.
  ...(
    [
      ['llama-3.1-8b-a100', 16.442, 0.047_837],
      ['llama-3.1-8b-h100', 5.753, 0.017_251],
      ['llama-3.3-70b-tp4-h100', 12.601, 0.076_423],
    ] as const
  ).map(([preset, step, token]): Measured => ({
    source: 'BLIS, `defaults.yaml`, fitted to servers of vLLM 0.8.4',
    preset,
    prefill: [512, 2048].map((tokens) => [tokens, step + token * tokens] as const),
    decode: [],
  })),
  {
    source: 'johnmusgrave.com: Llama-3.1-8B on an A100 of 40 GB, vLLM 0.23, 75 tokens a second at one stream',
    preset: 'llama-3.1-8b-a100',
    scale: { bandwidth: 1555 / 2039 },
    prefill: [],
    decode: [[1, 1088, 13.3]],
  },
  {
    source: 'yobitelcomm/bench: Llama-3.1-8B on an H100, vLLM 0.21, short chats, medians',
    preset: 'llama-3.1-8b-h100',
    prefill: [],
    decode: [[1, 128, 6.48], [4, 128, 6.59], [16, 128, 10.94], [64, 128, 46.9]], // prettier-ignore
  },
  {
    source: 'yobitelcomm/bench: Qwen2.5-72B on H100s (four assumed: not recorded), vLLM 0.22.1, short chats, medians',
    preset: 'llama-3.3-70b-tp4-h100',
    scale: { weights: 71.5 / 69.5 },
    prefill: [],
    decode: [[1, 128, 16.05], [16, 128, 17.3]], // prettier-ignore
  },
];

/**
 * Time of whole steps of vLLM 0.19 over the sum of their kernels, which AgentServeSim measured in one run
 * (`profiler/perf`, `step_overhead.csv`, four decoding sequences): by tokens of prefill in the step, 0 for decode alone.
 */
export const WHOLE_OVER_KERNELS: readonly {
  readonly machine: string;
  readonly ratios: Readonly<Record<number, number>>;
}[] = [
  {
    machine: '8B, B200',
    ratios: { 0: 4724.1 / 5119.5, 1024: 14_493.1 / 12_215.2, 4096: 65_905.8 / 53_707, 8192: 124_876.4 / 98_109.4 },
  },
  {
    machine: '8B, RTX PRO 6000',
    ratios: { 0: 16_902.2 / 16_981, 4096: 234_874 / 241_890, 8192: 459_185 / 459_046.3 },
  },
  {
    machine: '70B, B200',
    ratios: { 0: 24_720.8 / 24_679.1, 1024: 142_500.4 / 107_821.4, 4096: 509_021.9 / 358_170.1, 8192: 962_903.8 / 665_336.2 }, // prettier-ignore
  },
  {
    machine: '70B, 2 x RTX PRO 6000',
    ratios: { 0: 57_032.9 / 56_908.2, 1024: 407_492.7 / 283_777.9, 4096: 1_237_796.2 / 953_682.4, 8192: 2_408_367.2 / 1_730_969.4 }, // prettier-ignore
  },
];
