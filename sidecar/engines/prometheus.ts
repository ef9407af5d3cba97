export interface Sample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** Longest text to take, in bytes; a busy vLLM server writes some hundred thousand. */
export const METRICS_BYTES_MAX = 8 * 1024 * 1024;

const LABEL = String.raw`[ \t]*([a-zA-Z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"`;
const VALUE = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`;
const LABELS = String.raw`(?:${LABEL}(?:[ \t]*,${LABEL})*(?:[ \t]*,)?)?`;
/** The rest, after the name. No two neighbours match the same space: such a pattern takes quadratic time. */
const REST = new RegExp(String.raw`^(?=[{ \t])(?:\{(?<labels>${LABELS})[ \t]*\})?[ \t]*(?<value>${VALUE})(?=[ \t]|$)`);

/** The samples of a metric in Prometheus or OpenMetrics text. Skips malformed and infinite ones; never throws. */
export function samplesOf(text: string | undefined, name: string): Sample[] {
  const [first = '', ...rests] = text?.split(`\n${name}`) ?? [];
  if (first.startsWith(name)) rests.unshift(first.slice(name.length));
  return rests.flatMap((rest) => {
    const [line = ''] = rest.split('\n', 1);
    const { labels = '', value } = REST.exec(line.trimEnd())?.groups ?? {};
    return Number.isFinite(Number(value)) ? [{ labels: labelsIn(labels), value: Number(value) }] : [];
  });
}

export const valuesOf = (text: string | undefined, name: string): number[] =>
  samplesOf(text, name).map(({ value }) => value);

const labelsIn = (text: string): Sample['labels'] =>
  new Map([...text.matchAll(new RegExp(LABEL, 'g'))].map(([, name = '', value = '']) => [name, unescape(value)]));

const unescape = (value: string): string =>
  value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
