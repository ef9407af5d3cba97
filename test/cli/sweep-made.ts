import { sweep } from '../../cli/load/sweep.js';
import type { Load } from '../../cli/load/read-load.js';
import type { LoadDocument } from '../../loadtest/report/index.js';
import { comparedOf } from '../../loadtest/report/pairs.js';
import { ConfigError } from '../../sidecar/config/index.js';
import { Written } from '../loadtest/report/made-up.js';

const spread = (seconds: number, count = 40) => ({
  count,
  mean: seconds,
  p50: seconds,
  p95: seconds,
  p99: seconds,
  max: seconds,
});

export interface Made {
  readonly seconds: readonly number[];
  readonly grew?: readonly boolean[];
  /** Whether it met an objective; there is one if a load has this. */
  readonly met?: boolean | undefined;
  readonly gone?: boolean;
  /** The event by which an engine left. */
  readonly left?: string;
  readonly completed?: number;
  readonly programs?: number;
  readonly complete?: boolean;
  /** Programs that fail at the second target alone. */
  readonly lost?: number;
  /** How long programs arrived. */
  readonly lasted?: number;
  readonly slowdown?: number;
  /** One's time alone; null: without a baseline. */
  readonly alone?: number | null;
  /** Programs a second. */
  readonly ended?: number;
  readonly runs?: number;
  readonly warnings?: readonly string[];
}

/** The document of a load of targets that take these seconds for a program. */
function documentOf({
  seconds,
  grew = [],
  met,
  gone = false,
  left,
  programs = 80,
  completed = programs,
  complete = true,
  lost = 0,
  lasted = 100,
  slowdown = 1.1,
  alone = 4,
  ended = 1.5,
  runs = seconds.length > 1 ? 3 : 1,
  warnings = ['Slow: by 1 ms.'],
}: Made): LoadDocument {
  const [a = 0, b] = seconds;
  const targets = seconds.map((each, at) => ({
    ...{
      name: at === 0 ? 'A' : 'B',
      url: `http://127.0.0.1:${8000 + at}`,
      gone_after_seconds: gone ? 4 : null,
      engine_left: left,
      completed,
      programs,
      failed: at === 0 ? programs - completed : lost,
      queue_grew: grew[at] ?? false,
      cached_tokens: null,
      errors: { http_503: programs - completed + lost, timeout: 0 },
    },
    ...{ programs_per_second: ended, ended_per_second: ended + 0.1 },
    ...{ arrivals_seconds: lasted, alone_seconds: alone, slowdown: spread(slowdown) },
    ...{
      program_seconds: spread(each, completed),
      ttft_seconds: spread(each, completed),
      seconds_per_token: spread(each),
    },
    ...{ program_queue_seconds: spread(0), program_engine_seconds: spread(each), program_tool_seconds: spread(0) },
    by_run: Array.from({ length: runs }, () => ({})),
    by_workload: { rag: { program_seconds: spread(at === 0 ? 1 : 4, programs) } },
  }));
  const told = (mean: number, p99: number) => ({ ...spread(mean, completed / runs), p99 });
  const made = [0.99, 1, 1.01].slice(0, runs).map((noise) => {
    const [one, other] = [a * noise, (b ?? 0) * noise];
    return [
      { program_seconds: told(one, one), ttft_seconds: told(one, 1) },
      { program_seconds: told(other, other), ttft_seconds: told(other, 3) },
    ] as const;
  });
  const ab = b === undefined ? null : comparedOf(targets as unknown as LoadDocument['targets'], made, 0.02);
  const slo =
    met === undefined
      ? []
      : targets.map(({ name, program_seconds: { p99: value } }) => ({
          expression: 'program_seconds.p99 < 9',
          target: name,
          value,
          met,
        }));
  return { complete, runs, elapsed_seconds: lasted * runs, warnings, targets, ab, slo } as unknown as LoadDocument;
}

/** What loads of 1, 2, 3 ... programs a second print. */
export async function printed(...made: readonly Made[]) {
  const [out, err] = [new Written(), new Written()];
  const urls = made[0]!.seconds.map((_, at) => `http://127.0.0.1:${8000 + at}`);
  const loads = made.map((_, at) => ({
    title: 'chat, seed 1',
    options: { arrivals: { type: 'open', ratePerSecond: at + 1 } },
    report: { targets: urls, margin: 0.02, out, err, quiet: true },
  })) as unknown as [Load, ...Load[]];
  const hasSlo = made.some(({ met }) => met !== undefined);
  const play = ({ options: { arrivals } }: Load) => {
    const value = arrivals.type === 'open' ? arrivals.ratePerSecond : 0;
    const one = { ...made[value - 1]!, met: hasSlo ? (made[value - 1]!.met ?? true) : undefined };
    return one.seconds.length === 0
      ? Promise.reject(new ConfigError([{ path: '', message: 'the target has gone' }]))
      : Promise.resolve({ ...documentOf(one), settings: { rate_per_second: value, speed: 2, margin: 0.02 } });
  };
  const swept = await sweep(loads, play, new AbortController().signal).catch((error: unknown) => error);
  return { lines: out.text.split('\n'), documents: swept as LoadDocument[] };
}
