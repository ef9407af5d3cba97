import { describe, expect, it } from 'vitest';
import type { Made } from './sweep-made.js';
import { printed } from './sweep-made.js';

describe('a sweep of two targets', () => {
  it('asks nothing of a load that neither sustains, as it is too much for one and misses the objective of the other', async () => {
    const short = { seconds: [9, 8], grew: [true, false], lasted: 6, runs: 3 };
    const told = async (met?: boolean) =>
      (await printed({ seconds: [2, 1], met: true }, { ...short, met })).lines.filter((line) => /^Sus|^Too/.test(line));
    expect(await told(false)).toEqual(['Sustained: at least up to 1 a second by both.']);
    expect(await told()).toEqual([
      'Sustained: at least up to 1 a second by both.',
      'Too few programs to tell whether 2 a second can be sustained: run again with --rate 2 --programs 120 --repeat 3: about 2 min.',
    ]);
  });

  it('does not know how much one sustains that did worse under a lower load', async () => {
    const { lines } = await printed({ seconds: [9, 8], grew: [true, false] }, { seconds: [2, 1] });
    expect(lines.filter((line) => /^Sus|^A lower/.test(line))).toEqual([
      'Sustained: A not known; B all up to 2 a second.',
      'A lower load did worse than a higher one: run again with --rate 1 --repeat 3: about 5 min.',
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
    expect((await printed(same, { ...same, grew: [true, true] })).lines).toContain(
      'Keep A: nothing is significantly better at loads that can be sustained. Most is lost: first token slowest 3.0x slower (1 -> 3 s). Try --rate 1..1.9 --repeat 3.',
    );
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
    expect((await printed({ ...once, grew: [true, false] }, above)).lines[3]).toMatch(
      /^At 2 a second, where A is overloaded, B/,
    );
    expect(await last(over, above)).toEqual([
      'Neither target keeps up with any of these loads, so they cannot tell which is better. Try --rate 0.25..1 --repeat 3.',
    ]);
    expect(await last(over, over)).toEqual([
      'Neither target keeps up with any of these loads, so they cannot tell which is better. Try --rate 0.25..1 --repeat 3.',
    ]);
  });

  it('says where the second loses most, where it is nowhere faster', async () => {
    const { lines } = await printed({ seconds: [2, 2.5] }, { seconds: [8, 12] });
    expect(lines).toContain(
      'Keep A: nothing is significantly better. Most is lost: programs 1.5x slower at 2 a second; first token slowest 3.0x slower (1 -> 3 s) at 1 a second.',
    );
  });

  it('says where the second is certainly slower, although it may be better elsewhere', async () => {
    const { lines } = await printed({ seconds: [2, 1], runs: 1 }, { seconds: [2, 6] });
    expect(lines).toContain(
      'These runs cannot tell whether B is better than A at 1 a second. Most is lost: programs 3.0x slower at 2 a second.',
    );
  });

  it('names no loss at a load that is too much for one', async () => {
    const { lines } = await printed(
      { seconds: [2, 1.99], runs: 1 },
      { seconds: [2, 2.2], runs: 1, grew: [false, true] },
    );
    expect(lines).toContain('Sustained: A all up to 2 a second; B at least up to 1 a second.');
    expect(lines.join('\n')).not.toContain('Most is lost');
    const sure = await printed({ seconds: [2, 2.5] }, { seconds: [8, 12], grew: [false, true] });
    expect(sure.lines).toContain(
      'Keep A: nothing is significantly better. Most is lost: programs 25 % slower; first token slowest 3.0x slower (1 -> 3 s) at 1 a second.',
    );
  });

  it('says from which load on the second is faster, what is worse then, and who pays', async () => {
    const many = { programs: 100 };
    const { lines } = await printed(
      { seconds: [2, 2.5], ...many },
      { seconds: [8, 4], ...many },
      { seconds: [20, 5], grew: [true, false], programs: 99 },
      { seconds: [90, 30], grew: [true, true] },
    );
    expect(lines).toContain(
      'In brackets: 95 % confidence over 3 runs. Ratios and times beside them are means of runs, those of the table are of all calls.',
    );
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
