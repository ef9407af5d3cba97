export interface Sample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Longest text to read, in characters; a busy vLLM server writes some hundred thousand. */
export const METRICS_CHARS_MAX = 8 * 1024 * 1024;

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = String.raw`[ \t]*([a-zA-Z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"`;
const VALUE = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`;
const LABELS = String.raw`(?:${LABEL}(?:[ \t]*,${LABEL})*(?:[ \t]*,)?)?`;
/** The rest, after the name. No two neighbours match the same space: such a pattern takes quadratic time. */
const REST = new RegExp(String.raw`^(?:\{(?<labels>${LABELS})[ \t]*\})?[ \t]*(?<value>${VALUE})(?=[ \t]|$)`);

/** Reads samples of `names` in Prometheus or OpenMetrics text. Skips malformed and infinite ones; never throws. */
export function parsePrometheus(text: string | undefined, names: ReadonlySet<string>): Samples {
  const samples = new Map<string, Sample[]>();
  if (text === undefined || text.length > METRICS_CHARS_MAX) return samples;
  for (const line of text.split('\n')) {
    const name = NAME.exec(line)?.[0];
    if (name === undefined || !names.has(name)) continue;
    const { labels = '', value } = REST.exec(line.slice(name.length).trimEnd())?.groups ?? {};
    if (!Number.isFinite(Number(value))) continue;
    const sample = { labels: labelsIn(labels), value: Number(value) };
    const known = samples.get(name);
    if (known) known.push(sample);
    else samples.set(name, [sample]);
  }
  return samples;
}

export const valuesOf = (samples: Samples, name: string): number[] =>
  samples.get(name)?.map(({ value }) => value) ?? [];

const labelsIn = (text: string): Sample['labels'] =>
  new Map([...text.matchAll(new RegExp(LABEL, 'g'))].map(([, name = '', value = '']) => [name, unescape(value)]));

const unescape = (value: string): string =>
  value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
