import { describe, expect, it } from 'vitest';
import type { Made } from './sweep-made.js';
import { printed } from './sweep-made.js';

describe('a sweep of one target', () => {
  it('says up to which load it keeps up and meets every objective', async () => {
    const { lines } = await printed(
      { seconds: [2] },
      { seconds: [3] },
      { seconds: [10], met: false },
      { seconds: [40], grew: [true], met: false },
    );
    expect(lines.slice(0, 8)).toEqual([
      'chat, seed 1',
      '',
      'At 1 a second: kept up; programs 2 s on average, max 2; first token p50 2 s, max 2.',
      'At 2 a second: kept up; programs 3 s on average, max 3; first token p50 3 s, max 3.',
      'At 3 a second: kept up; programs 10 s on average, max 10; first token p50 10 s, max 10.',
      'At 4 a second: overloaded, 1.6 a second ended meanwhile.',
      'SLO program_seconds.p99 < 9: met at 1 (2) and 2 (3) a second; missed at 3 (10) and 4 (40) a second.',
      'Sustained: up to 2 a second.',
    ]);
  });

  it.each<[Partial<Made>, Partial<Made>, string]>([
    [{}, {}, 'all up to 2 a second. Try --rate 2..8.'],
    [{}, { completed: 0 }, 'at least up to 1 a second.'],
    // What is sustained may be above what ended where too many came.
    [{}, { grew: [true], ended: 1.1 }, 'at least up to 1 a second. Try --rate 1..1.5.'],
    [{ met: false }, { met: false }, 'none of these loads. Try --rate 0.25..1.'],
    [{ completed: 0 }, { completed: 0 }, 'none of these loads.'],
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
    const { lines } = await printed(
      { seconds: [5], lasted: 21 },
      short,
      { ...short, lasted: 6 },
      { seconds: [5], programs: 60, slowdown: 2, lasted: 30, runs: 3 },
    );
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
    expect((await printed({ seconds: [5] }, obeyed)).lines).toContain(
      'Sustained: all up to 2 a second. Try --rate 2..8.',
    );
  });

  it('asks for the loads again that did worse than higher ones, and concludes nothing from them', async () => {
    const told = async (...made: readonly Made[]) =>
      (await printed(...made)).lines.filter((line) => /^Sustained|^A lower/.test(line));
    const [good, bad] = [
      { seconds: [2], met: true },
      { seconds: [12], met: false },
    ];
    const again = (rates: string, minutes: number) =>
      `A lower load did worse than a higher one: run again with --rate ${rates}: about ${minutes} min.`;
    expect(await told(bad, good, good, bad)).toEqual([again('1', 2)]);
    expect(await told(good, bad, { seconds: [3], grew: [true] }, good)).toEqual([
      'Sustained: at least up to 1 a second.',
      again('2,3', 4),
    ]);
  });

  it('concludes nothing without a baseline, but that programs fail', async () => {
    const one = { seconds: [2], alone: null };
    const { lines } = await printed({ ...one, met: true }, { ...one, programs: 200, completed: 190 });
    expect(lines.slice(2, 6)).toEqual([
      'At 1 a second: not known without a baseline; programs 2 s on average, max 2; first token p50 2 s, max 2.',
      'At 2 a second: did not keep up; programs 2 s on average, p99 2; first token p50 2 s, p99 2; 10 failed (10x http_503).',
      'SLO program_seconds.p99 < 9: met but perhaps not sustained at 1 (2) a second; met but not sustained at 2 (2) a second.',
      'Not known without a baseline whether 1 a second can be sustained.',
    ]);
  });

  it('calls no objective met without a word where the load is not sustained', async () => {
    const { lines } = await printed(
      { seconds: [2], met: true },
      { seconds: [5], lasted: 6 },
      { seconds: [6], grew: [true] },
      { seconds: [9], met: false },
    );
    expect(lines[6]).toBe(
      'SLO program_seconds.p99 < 9: met at 1 (2) a second; met but perhaps not sustained at 2 (5) a second; met but not sustained at 3 (6) a second; missed at 4 (9) a second.',
    );
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
      'At 2 a second: overloaded, 1.6 a second ended meanwhile.',
      'At 3 a second: did not keep up; programs 5 s on average, max 5; first token p50 5 s, max 5; 10 failed (10x http_503).',
      'At 4 a second: overloaded, 1.6 a second ended meanwhile.',
      'Sustained: at least up to 1 a second. Try --rate 1..1.9.',
    ]);
  });

  it('says of which loads a warning is, once', async () => {
    const warned = async (...late: readonly (number | undefined)[]) =>
      (
        await printed(...late.map((by) => ({ seconds: [2], warnings: by === undefined ? [] : [`Late by ${by} s.`] })))
      ).lines.filter((line) => line.startsWith('Warning'));
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
      expect(lines.slice(3, 5)).toEqual([
        'At 2 a second: not known: http://127.0.0.1:8000 went away 4 s after the beginning.',
        'Bring it back and run again.',
      ]);
    const none = await printed({ seconds: [2], complete: false });
    expect(none.lines).toEqual([
      'chat, seed 1',
      '',
      'Stopped before all loads were measured.',
      '',
      'http://127.0.0.1:8000',
      '',
      'Warning: Slow: by 1 ms.',
      '',
    ]);
    expect(gone.documents).toEqual(new Error('http://127.0.0.1:8000 went away 4 s after the beginning at 2 a second'));
    expect([stopped, gone].map(({ lines }) => lines.filter((line) => line.startsWith('At ')).length)).toEqual([1, 2]);
    const { lines, documents } = await printed(
      { seconds: [2] },
      { seconds: [3], left: 'e1 is down', completed: 78, grew: [true] },
      { seconds: [4] },
    );
    expect(lines.slice(3, 6)).toEqual([
      'At 2 a second: not known: e1 is down behind http://127.0.0.1:8000.',
      'Bring it back and run again.',
      '',
    ]);
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
