import { describe, expect, it } from 'vitest';
import { sweep } from '../../cli/load/sweep.js';
import type { Load } from '../../cli/load/read-load.js';
import type { LoadDocument } from '../../loadtest/report/index.js';
import { comparedOf } from '../../loadtest/report/pairs.js';
import { ConfigError } from '../../sidecar/config/index.js';
import { Written } from '../loadtest/report/made-up.js';

const spread = (seconds: number, count = 40) => ({ count, mean: seconds, p50: seconds, p95: seconds, p99: seconds, max: seconds }); // prettier-ignore

interface Made {
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
  /** How long programs arrived; one alone takes 4 s. */
  readonly lasted?: number;
  readonly slowdown?: number;
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
  ended = 1.5,
  runs = seconds.length > 1 ? 3 : 1,
  warnings = ['Slow: by 1 ms.'],
}: Made): LoadDocument {
  // prettier-ignore
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
    ...{ programs_per_second: ended, arrivals_seconds: lasted, alone_seconds: 4, slowdown: spread(slowdown) },
    ...{ program_seconds: spread(each, completed), ttft_seconds: spread(each, completed), seconds_per_token: spread(each) }, // prettier-ignore
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
  const slo = met === undefined ? [] : targets.map(({ name, program_seconds: { p99: value } }) => ({ expression: 'program_seconds.p99 < 9', target: name, value, met })); // prettier-ignore
  return { complete, runs, elapsed_seconds: lasted * runs, warnings, targets, ab, slo } as unknown as LoadDocument;
}

/** What loads of 1, 2, 3 ... programs a second print. */
async function printed(...made: readonly Made[]) {
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

describe('a sweep of one target', () => {
  it('says up to which load it keeps up and meets every objective', async () => {
    const { lines } = await printed({ seconds: [2] }, { seconds: [3] }, { seconds: [10], met: false }, { seconds: [40], grew: [true], met: false }); // prettier-ignore
    expect(lines.slice(0, 8)).toEqual([
      'chat, seed 1',
      '',
      'At 1 a second: kept up; programs 2 s on average, max 2; first token p50 2 s, max 2.',
      'At 2 a second: kept up; programs 3 s on average, max 3; first token p50 3 s, max 3.',
      'At 3 a second: kept up; programs 10 s on average, max 10; first token p50 10 s, max 10.',
      'At 4 a second: overloaded, 1.5 a second ended.',
      'SLO program_seconds.p99 < 9: met at 1 (2) and 2 (3) a second; missed at 3 (10) and 4 (40) a second.',
      'Sustained: up to 2 a second.',
    ]);
  });

  it.each<[Partial<Made>, Partial<Made>, string]>([
    [{}, {}, 'all up to 2 a second. Try --rate 2..8.'],
    [{}, { completed: 0 }, 'at least up to 1 a second.'],
    // What is sustained may be above what ended where too many came.
    [{}, { grew: [true], ended: 1.1 }, 'at least up to 1 a second. Try --rate 1..1.5.'],
    [{ met: false }, {}, 'none of these loads. Try --rate 0.25..1.'],
    [{ completed: 0 }, {}, 'none of these loads.'],
    // Engines may still fill.
    [{}, { seconds: [9.96], slowdown: 2.04, lasted: 50 }, 'at least up to 1 a second.'],
    [{}, { seconds: [9.96], slowdown: 2.04, lasted: 80 }, 'all up to 2 a second. Try --rate 2..8.'],
    // At most 1 % of programs may fail.
    [{}, { programs: 200, completed: 198 }, 'all up to 2 a second. Try --rate 2..8.'],
    [{}, { programs: 200, completed: 197 }, 'at least up to 1 a second. Try --rate 1..2.'],
  ])('of %j and %j sustains: %3$s', async (one, other, told) => {
    const { lines } = await printed({ seconds: [2], ...one }, { seconds: [3], ...other });
    expect(lines).toContain(`Sustained: ${told}`);
  });

  it('gives counsel for the lowest load of which nobody can tell: it may tell of those above', async () => {
    const short = { seconds: [5], programs: 90, lasted: 8.6, runs: 3 };
    const { lines } = await printed({ seconds: [5], lasted: 21 }, short, { ...short, lasted: 6 }, { seconds: [5], programs: 60, slowdown: 2, lasted: 30, runs: 3 }); // prettier-ignore
    const told = 'programs 5 s on average, max 5; first token p50 5 s, max 5.';
    expect(lines.slice(2, 8)).toEqual([
      `At 1 a second: kept up; ${told}`,
      `At 2 a second: too few programs to tell; ${told}`,
      `At 3 a second: too few programs to tell; ${told}`,
      `At 4 a second: too few programs to tell; ${told}`,
      'Sustained: at least up to 1 a second.',
      'Too few programs to tell whether 2 a second can be sustained: run again with --rate 2 --programs 90 --repeat 3: about 2 min.',
    ]);
    expect(lines.join('\n').match(/--programs/g)).toHaveLength(1);
    // Obeyed: three runs of 90 programs arrive for 8.6 s * 270 / 90, above five times 4 s.
    const obeyed = { seconds: [5], programs: 270, lasted: 25.8 };
    expect((await printed({ seconds: [5] }, obeyed)).lines).toContain('Sustained: all up to 2 a second. Try --rate 2..8.'); // prettier-ignore
  });

  it('calls no objective met without a word where the load is not sustained', async () => {
    const { lines } = await printed({ seconds: [2], met: true }, { seconds: [5], lasted: 6 }, { seconds: [6], grew: [true] }, { seconds: [9], met: false }); // prettier-ignore
    expect(lines[6]).toBe('SLO program_seconds.p99 < 9: met at 1 (2) a second; met but perhaps not sustained at 2 (5) a second; met but not sustained at 3 (6) a second; missed at 4 (9) a second.'); // prettier-ignore
  });

  it('takes an overload for one of all loads above, where none of them is sustained', async () => {
    const few = { seconds: [5], lasted: 6 };
    const failing = { seconds: [5], programs: 100, completed: 90 };
    const { lines, documents } = await printed(
      { seconds: [2], met: true },
      { seconds: [5], grew: [true] },
      failing,
      few,
    );
    expect(documents.map(({ targets: [target] }) => target!.queue_grew)).toEqual([false, true, false, true]);
    expect(lines[6]).toContain('met but not sustained at 2 (5), 3 (5) and 4 (5) a second.');
    expect([...lines.slice(3, 6), lines[7]]).toEqual([
      'At 2 a second: overloaded, 1.5 a second ended.',
      'At 3 a second: did not keep up; programs 5 s on average, max 5; first token p50 5 s, max 5; 10 failed (10x http_503).',
      'At 4 a second: overloaded, 1.5 a second ended.',
      'Sustained: at least up to 1 a second. Try --rate 1..1.9.',
    ]);
  });

  it('says of which loads a warning is, once', async () => {
    const warned = async (...late: readonly (number | undefined)[]) =>
      (await printed(...late.map((by) => ({ seconds: [2], warnings: by === undefined ? [] : [`Late by ${by} s.`] })))).lines.filter((line) => line.startsWith('Warning')); // prettier-ignore
    expect(await warned(1, undefined, 3)).toEqual(['Warning at 1 and 3 a second: Late by 1 s.']);
    expect(await warned(1, 2)).toEqual(['Warning: Late by 1 s.']);
  });

  it('names the same statistics as its table, and the base of its slowdowns', async () => {
    const { lines } = await printed({ seconds: [2], programs: 100 }, { seconds: [3], programs: 100 });
    expect(lines).toContain('At 1 a second: kept up; programs 2 s on average, p99 2; first token p50 2 s, p99 2.');
    expect(lines.join('\n')).not.toContain('max');
    expect(lines.join('\n')).toMatch(/program alone, s/);
  });

  it('ends with the load that was stopped, which has no verdict, or in which a target or its engine goes: no error of usage', async () => {
    const stopped = await printed({ seconds: [2] }, { seconds: [3], complete: false }, { seconds: [4] });
    expect(stopped.documents.map(({ complete }) => complete)).toEqual([true, false]);
    const gone = await printed({ seconds: [2] }, { seconds: [3], gone: true }, { seconds: [4] });
    const last = await printed({ seconds: [2] }, { seconds: [3], gone: true });
    for (const { lines } of [gone, last])
      expect(lines.slice(3, 5)).toEqual(['At 2 a second: not known: http://127.0.0.1:8000 went away 4 s after the beginning.', 'Bring it back and run again.']); // prettier-ignore
    const none = await printed({ seconds: [2], complete: false });
    expect(none.lines).toEqual(['chat, seed 1', '', 'Stopped before all loads were measured.', '', 'http://127.0.0.1:8000', '', 'Warning: Slow: by 1 ms.', '']); // prettier-ignore
    expect(gone.documents).toEqual(new Error('http://127.0.0.1:8000 went away 4 s after the beginning at 2 a second'));
    expect([stopped, gone].map(({ lines }) => lines.filter((line) => line.startsWith('At ')).length)).toEqual([1, 2]);
    const { lines, documents } = await printed({ seconds: [2] }, { seconds: [3], left: 'e1 is down', completed: 78, grew: [true] }, { seconds: [4] }); // prettier-ignore
    expect(lines.slice(3, 6)).toEqual(['At 2 a second: not known: e1 is down behind http://127.0.0.1:8000.', 'Bring it back and run again.', '']); // prettier-ignore
    expect(lines.join('\n')).not.toMatch(/Sustained|Try|programs fail/);
    expect(documents).toEqual(new Error('e1 is down behind http://127.0.0.1:8000 at 2 a second'));
  });

  it('keeps what it has measured when a target goes', async () => {
    const { lines, documents } = await printed({ seconds: [2] }, { seconds: [] });
    expect(documents).toEqual(new Error('the target has gone'));
    expect(lines).toEqual(expect.arrayContaining(['Stopped: the target has gone.', expect.stringMatching(/^1 +2 /)]));
    expect((await printed({ seconds: [] }, { seconds: [3] })).lines.slice(1)).toEqual(['', '']);
  });
});

describe('a sweep of two targets', () => {
  it('asks nothing of a load that neither sustains, as it is too much for one and misses the objective of the other', async () => {
    const short = { seconds: [9, 8], grew: [true, false], lasted: 6, runs: 3 };
    const told = async (met?: boolean) => (await printed({ seconds: [2, 1], met: true }, { ...short, met })).lines.filter((line) => /^Sus|^Too/.test(line)); // prettier-ignore
    expect(await told(false)).toEqual(['Sustained: at least up to 1 a second by both.']);
    expect(await told()).toEqual([
      'Sustained: at least up to 1 a second by both.',
      'Too few programs to tell whether 2 a second can be sustained: run again with --rate 2 --programs 120 --repeat 3: about 2 min.',
    ]);
  });

  it('says of each under which loads it met an objective', async () => {
    const { lines } = await printed({ seconds: [2, 1], met: true }, { seconds: [9, 10], met: false });
    expect(lines.filter((line) => line.startsWith('SLO'))).toEqual([
      'SLO program_seconds.p99 < 9 of A: met at 1 (2) a second; missed at 2 (9) a second.',
      'SLO program_seconds.p99 < 9 of B: met at 1 (1) a second; missed at 2 (10) a second.',
    ]);
  });

  it('compares nothing where many programs failed, of either target, and explains brackets only where some are', async () => {
    const { lines } = await printed({ seconds: [2, 1], completed: 60 }, { seconds: [2, 1], lost: 80 });
    expect(lines.slice(2, 5)).toEqual([
      'At 1 a second: not comparable: 20 of 80 programs failed at A (20x http_503), whose times are of the other 60 alone, under a lighter load.',
      'At 2 a second: not comparable: 80 of 80 programs failed at B (80x http_503).',
      'Too many programs failed to tell which is better. Try --rate 0.25..1 --repeat 3.',
    ]);
    expect(lines.join('\n')).not.toContain('In brackets');
  });

  it('says which loads to try where nothing is better', async () => {
    const same = { seconds: [2, 2] };
    expect((await printed(same, same)).lines).toContain(
      'Keep A: nothing is significantly better. Most is lost: first token slowest 3.0x slower (1 -> 3 s) at 1 a second. Try --rate 2..8 --repeat 3.',
    );
    expect((await printed(same, { ...same, grew: [true, true] })).lines).toContain('Keep A: nothing is significantly better at loads that can be sustained. Most is lost: first token slowest 3.0x slower (1 -> 3 s). Try --rate 1..1.9 --repeat 3.'); // prettier-ignore
  });

  it('asks for further runs where one cannot tell, and for lower loads where neither keeps up', async () => {
    const once = { seconds: [2, 1], runs: 1 };
    const over = { ...once, grew: [true, true] };
    const last = async (...made: readonly Made[]) => {
      const { lines } = await printed(...made);
      return lines.slice(2 + made.length, lines.indexOf('', 2));
    };
    expect(await last(once, once, over)).toEqual([
      'These runs cannot tell whether B is better than A.',
      'Sustained: up to 2 a second by both.',
      'To tell which is better, run again with --rate 1,2 --repeat 3: about 10 min.',
    ]);
    const { lines } = await printed(once, { ...once, grew: [true] }, over);
    expect(lines.slice(2, 5)).toEqual([
      'At 1 a second, B: programs 2.0x faster than A (0.50, one run: may be chance), slowest 0.50; first token p50 0.50, slowest 3.00 (1 -> 3 s).',
      'At 2 a second, where A is overloaded, B: programs 2.0x faster than A (0.50, one run: may be chance), slowest 0.50; first token p50 0.50, slowest 3.00 (1 -> 3 s).',
      'At 3 a second, where both are overloaded, B: programs 2.0x faster than A (0.50, one run: may be chance), slowest 0.50; first token p50 0.50, slowest 3.00 (1 -> 3 s).',
    ]);
    expect(await last({ ...once, lasted: 6 }, over)).toEqual([
      'These runs cannot tell whether B is better than A.',
      'Too few programs to tell whether 1 a second can be sustained: run again with --rate 1 --programs 340 --repeat 3: about 2 min.',
    ]);
    // A load above one that overloads both, too short to tell.
    const above = { ...once, lasted: 6 };
    expect((await printed(over, above)).lines[3]).toMatch(/^At 2 a second, where both are overloaded, B/);
    expect((await printed({ ...once, grew: [true, false] }, above)).lines[3]).toMatch(/^At 2 a second, where A is overloaded, B/); // prettier-ignore
    expect(await last(over, above)).toEqual([
      'Neither target keeps up with any of these loads, so they cannot tell which is better. Try --rate 0.25..1 --repeat 3.',
    ]);
    expect(await last(over, over)).toEqual([
      'Neither target keeps up with any of these loads, so they cannot tell which is better. Try --rate 0.25..1 --repeat 3.',
    ]);
  });

  it('says where the second loses most, where it is nowhere faster', async () => {
    const { lines } = await printed({ seconds: [2, 2.5] }, { seconds: [8, 12] });
    expect(lines).toContain('Keep A: nothing is significantly better. Most is lost: programs 1.5x slower at 2 a second; first token slowest 3.0x slower (1 -> 3 s) at 1 a second.'); // prettier-ignore
  });

  it('names no loss at a load that is too much for one', async () => {
    const { lines } = await printed({ seconds: [2, 1.99], runs: 1 }, { seconds: [2, 2.2], runs: 1, grew: [false, true] }); // prettier-ignore
    expect(lines).toContain('Sustained: A all up to 2 a second; B at least up to 1 a second.');
    expect(lines.join('\n')).not.toContain('Most is lost');
    const sure = await printed({ seconds: [2, 2.5] }, { seconds: [8, 12], grew: [false, true] });
    expect(sure.lines).toContain('Keep A: nothing is significantly better. Most is lost: programs 25 % slower; first token slowest 3.0x slower (1 -> 3 s) at 1 a second.'); // prettier-ignore
  });

  it('says from which load on the second is faster, what is worse then, and who pays', async () => {
    const many = { programs: 100 };
    const { lines } = await printed({ seconds: [2, 2.5], ...many }, { seconds: [8, 4], ...many }, { seconds: [20, 5], grew: [true, false], programs: 99 }, { seconds: [90, 30], grew: [true, true] }); // prettier-ignore
    expect(lines).toContain('In brackets: 95 % confidence over 3 runs. Ratios and times beside them are means of runs, those of the table are of all calls.'); // prettier-ignore
    expect(lines.slice(2, 7)).toEqual([
      'At 1 a second, B: programs 25 % slower than A (1.25, 1.25–1.25); first token p50 25 % slower, slowest 3.0x slower (1 -> 3 s).',
      'At 2 a second, B: programs 2.0x faster than A (0.50, 0.50–0.50); first token p50 2.0x faster, slowest 3.0x slower (1 -> 3 s).',
      // The slowest of 99 is chance.
      'At 3 a second, where A is overloaded, B: programs 4.0x faster than A (0.25, 0.25–0.25); first token p50 4.0x faster, slowest 3.0x slower (1 -> 3 s).',
      // As a single load does, but nothing is concluded from it.
      'At 4 a second, where both are overloaded, B: programs 3.0x faster than A (0.33, 0.33–0.33); first token p50 3.0x faster, slowest 3.0x slower (1 -> 3 s).',
      'B pays from 2 to 3 a second, the most that is sustained: programs up to 4.0x faster (more in longer runs). Price: first token slowest 3.0x slower (1 -> 3 s); rag pays: p99 4.0x slower at 2 a second. Elsewhere: programs 25 % slower; first token slowest 3.0x slower (1 -> 3 s) at 1 a second.',
    ]);
  });
});
