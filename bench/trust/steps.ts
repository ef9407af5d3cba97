import { PRESET_NAMES, PRESETS, stepMs, type Preset } from '../../sim/index.js';
import { mean } from '../numbers.js';
import { KERNELS, SERVERS, WHOLE_OVER_KERNELS, type Measured, type Published } from './published.js';

/** A table of the page, as rows of Markdown cells. */
export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export type StepError = Readonly<ReturnType<typeof errorOf>>;

/** A model step over the published one, less 1. */
const errorOf = (label: string, published: number, modelled: number) => ({
  label,
  published,
  error: modelled / published - 1,
});

export const prefillErrors = (preset: Preset, { prefill }: Published): StepError[] =>
  prefill.map(([tokens, ms]) =>
    errorOf(
      tokens.toLocaleString('en-US'),
      ms,
      stepMs(preset, { sequences: 1, tokens, attended: (tokens * (tokens + 1)) / 2, context: tokens }),
    ),
  );

export const decodeErrors = (preset: Preset, { decode }: Published): StepError[] =>
  decode.map(([sequences, context, ms]) => {
    const attended = sequences * context;
    return errorOf(
      `${sequences} x ${context.toLocaleString('en-US')}`,
      ms,
      stepMs(preset, { sequences, tokens: sequences, attended, context: attended }),
    );
  });

const percent = (share: number) => `${share < 0 ? '−' : '+'}${Math.round(100 * Math.abs(share))} %`;
/** Mean of the absolute errors, and the largest with its sign. */
function summary(errors: readonly StepError[]): string {
  const largest = errors.toSorted((a, b) => Math.abs(b.error) - Math.abs(a.error))[0];
  return `${Math.round(100 * mean(errors.map(({ error }) => Math.abs(error))))} %, ${percent(largest?.error ?? NaN)}`;
}

/** Mean and largest error of each preset at each efficiency. */
export const summaries = (): Rows => ({
  columns: ['preset', 'prefill: mean, largest error', 'decode: mean, largest error'],
  rows: KERNELS.flatMap((published) =>
    PRESET_NAMES.filter((name) => name.split(':')[0] === published.preset).map((name) => [
      `\`${name}\``,
      summary(prefillErrors(PRESETS[name], published)),
      summary(decodeErrors(PRESETS[name], published)),
    ]),
  ),
});

/** The preset as the measured machine differs from its own. */
function scaled(preset: Preset, { weights = 1, bandwidth = 1 }: NonNullable<Measured['scale']> = {}): Preset {
  const { weightBytes, flopsPerToken, bytesPerSecond } = preset;
  return {
    ...preset,
    weightBytes: weightBytes * weights,
    flopsPerToken: flopsPerToken * weights,
    bytesPerSecond: bytesPerSecond * bandwidth,
  };
}

/** Times of whole servers, and the errors of the presets that imitate them. */
export const servers = (): Rows => ({
  columns: ['measured', 'preset', 'step: ms, error'],
  rows: SERVERS.map((measured) => {
    const preset = scaled(PRESETS[measured.preset], measured.scale);
    const errors = [...prefillErrors(preset, measured), ...decodeErrors(preset, measured)];
    return [
      measured.source,
      `\`${measured.preset}\``,
      errors.map(({ label, published, error }) => `${label}: ${published.toFixed(1)}, ${percent(error)}`).join('; '),
    ];
  }),
});

const CHUNKS = [0, 1024, 4096, 8192];

export const wholeOverKernels = (): Rows => ({
  columns: [
    'model, machine',
    'decode alone',
    ...CHUNKS.slice(1).map((tokens) => `with ${tokens.toLocaleString('en-US')} of prefill`),
  ],
  rows: WHOLE_OVER_KERNELS.map(({ machine, ratios }) => [
    machine,
    ...CHUNKS.map((tokens) => ratios[tokens]?.toFixed(2) ?? '-'),
  ]),
});
