export interface Sample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Longest text to read, in characters; a busy vLLM server writes some hundred thousand. */
export const METRICS_CHARS_MAX = 8 * 1024 * 1024;

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL = /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(,?)/y;
const LABELS_END = /[ \t]*\}/y;
const VALUE = /[ \t]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?=[ \t]|$)/y;

/**
 * Reads the samples of `names` from Prometheus or OpenMetrics text. It ignores malformed lines, NaN, infinities, and a
 * text that is too long; it never throws. Timestamps and exemplars are skipped.
 */
export function parsePrometheus(text: string | undefined, names: ReadonlySet<string>): Samples {
  const samples = new Map<string, Sample[]>();
  if (text === undefined || text.length > METRICS_CHARS_MAX) return samples;
  for (const line of text.split('\n')) {
    const name = matchAt(NAME, line, 0)?.[0];
    if (name === undefined || !names.has(name)) continue;
    const sample = parseSample(line.trimEnd(), name.length);
    if (sample === undefined) continue;
    const known = samples.get(name);
    if (known) known.push(sample);
    else samples.set(name, [sample]);
  }
  return samples;
}

export const valuesOf = (samples: Samples, name: string): number[] =>
  samples.get(name)?.map(({ value }) => value) ?? [];

function parseSample(line: string, start: number): Sample | undefined {
  const labels = new Map<string, string>();
  let at = start;
  if (line[at] === '{') {
    at += 1;
    let more = true;
    while (more) {
      const label = matchAt(LABEL, line, at);
      if (label === undefined) break;
      labels.set(label[1] ?? '', unescape(label[2] ?? ''));
      at += label[0].length;
      more = label[3] === ',';
    }
    const end = matchAt(LABELS_END, line, at);
    if (end === undefined) return undefined;
    at += end[0].length;
  }
  const value = Number(matchAt(VALUE, line, at)?.[1] ?? NaN);
  return Number.isFinite(value) ? { labels, value } : undefined;
}

function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line) ?? undefined;
}

const unescape = (value: string): string =>
  value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
