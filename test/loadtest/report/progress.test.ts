import { describe, expect, it } from 'vitest';
import { ProgressView } from '../../../loadtest/report/progress.js';
import { call, progress, program, Written } from './made-up.js';

/** What a terminal shows after what was written: its line is erased before each other one. */
const shown = (text: string): string => text.split('\r\u001B[J').at(-1)!;

describe('the view of a terminal', () => {
  it('is drawn in place, five times a second at most', () => {
    const screen = new Written(true);
    const view = new ProgressView(screen, ['A']);
    for (let elapsedMs = 0; elapsedMs < 2000; elapsedMs += 10) view.progress(progress({ elapsedMs }));
    expect(screen.text.match(/of 40 programs/g)!.length).toBeLessThanOrEqual(10);
    expect(shown(screen.text)).toMatch(/^1.8 s  4 of 40 programs  .*errors$/);
  });

  it('goes without a trace', () => {
    const screen = new Written(true);
    const view = new ProgressView(screen, ['A', 'B']);
    for (const elapsedMs of [0, 500, 1000]) view.progress(progress({ elapsedMs }));
    view.end();
    expect(shown(screen.text)).toBe('');
  });

  it.each([10, 20, 40, 60, 200])('fits %d columns', (columns) => {
    const screen = new Written(true, columns);
    const view = new ProgressView(screen, ['A', 'B']);
    view.progress(progress());
    expect(shown(screen.text).length).toBeLessThan(columns);
    expect(shown(screen.text)).toMatch(/^1 s/);
  });

  it('tells mean times and errors so far', () => {
    const screen = new Written(true, 200);
    const view = new ProgressView(screen, ['A']);
    for (const at of [1, 3]) {
      view.programEnded(program({ index: at, arrivedMs: 0, endedMs: 1000 * at }));
      view.callEnded(call({ arrivedMs: 0, firstTokenMs: 100 * at }));
    }
    view.callEnded(call({ outcome: 'timeout' }));
    view.progress(progress({ elapsedMs: 10_000 }));
    const young = new Written(true, 200);
    const other = new ProgressView(young, ['A']);
    other.callEnded(call({ arrivedMs: 0, firstTokenMs: 100 }));
    other.progress(progress());
    expect(shown(young.text)).toContain('  1 call answered  0 errors  first token 0.1 s');
    expect(shown(screen.text)).toContain('  programs 2 s on average  1 error  first token 0.2 s');
  });
});

describe('lines in a pipe', () => {
  it('come every half minute, without a character that moves the cursor', () => {
    const screen = new Written(false);
    const view = new ProgressView(screen, ['A', 'B']);
    for (let elapsedMs = 0; elapsedMs <= 120_000; elapsedMs += 100) view.progress(progress({ elapsedMs }));
    view.end();
    const lines = screen.text.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(screen.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(lines[0]).toMatch(/^30 s, 4 of 40 programs, .*A: .*B: /);
    view.progress(progress({ elapsedMs: 150_000, programsTotal: 120, runs: 3 }));
    expect(screen.text).toMatch(/^2 min 30 s, 4 of 120 programs in 3 runs, /m);
  });
});
