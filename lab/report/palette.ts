/**
 * Colours of series, found by search under bounds that a test checks. On its background each has a contrast of at least
 * 3. Any two remain distinct under each of the three colour blindnesses.
 */
export const LIGHT = {
  background: '#ffffff',
  text: '#1c2129',
  series: ['#086ac9', '#d36f0f', '#23a196', '#3806a4', '#655207', '#5f0e43'],
} as const;

export const DARK = {
  background: '#12161c',
  text: '#e4e8ee',
  series: ['#5cb0f2', '#f48749', '#3fe8d0', '#9158fa', '#f7de4e', '#c74783'],
} as const;

export const SERIES_COLOURS = LIGHT.series.length;

/** A colour of a chart, for either background. */
export const colour = {
  /** After the last colour they repeat; charts distinguish such series by dashes and symbols too. */
  series: (index: number) => `var(--series-${(index % SERIES_COLOURS) + 1})`,
};

const variables = (palette: typeof LIGHT | typeof DARK): string =>
  [
    `--background:${palette.background}`,
    `--text:${palette.text}`,
    ...palette.series.map((value, index) => `--series-${index + 1}:${value}`),
  ].join(';');

/** CSS rules that apply the colours to `selector`, by the reader's preference. */
export const paletteStyle = (selector: string): string =>
  `${selector}{${variables(LIGHT)}}@media(prefers-color-scheme:dark){${selector}{${variables(DARK)}}}`;
