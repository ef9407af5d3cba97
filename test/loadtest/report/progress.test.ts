import { describe, expect, it } from 'vitest';
import { ProgressView } from '../../../loadtest/report/progress.js';
import { call, progress, program, Written } from './made-up.js';

/** What a terminal of so many columns shows after what was written, if it wraps as terminals do. */
function shown(text: string, columns: number): string[] {
  let rows = [''];
  let at = 0;
  for (const [, up, clear, , newline, character] of text.matchAll(/\u001B\[(\d+)A|\r(\u001B\[J)|(\r)|(\n)|([^])/g)) {
    if (up !== undefined) at = Math.max(0, at - Number(up));
    else if (clear !== undefined) rows = [...rows.slice(0, at), ''];
    else if (newline !== undefined) rows[(at += 1)] ??= '';
    else if ((rows[at] ?? '').length >= columns) rows[(at += 1)] = character ?? '';
    else rows[at] = (rows[at] ?? '') + (character ?? '');
  }
  return rows;
}

describe('the view of a terminal', () => {
  it('is drawn in place, five times a second at most', () => {
    const screen = new Written(true);
    const view = new ProgressView(screen, ['A']);
    for (let elapsedMs = 0; elapsedMs < 2000; elapsedMs += 10) view.progress(progress({ elapsedMs }));
    expect(screen.text.match(/of 40 programs/g)!.length).toBeLessThanOrEqual(10);
    expect(shown(screen.text, 100).filter((row) => row !== '')).toHaveLength(2);
  });

  it('goes without a trace', () => {
    const screen = new Written(true);
    screen.write('before\n');
    const view = new ProgressView(screen, ['A', 'B']);
    for (const elapsedMs of [0, 500, 1000]) view.progress(progress({ elapsedMs }));
    view.end();
    screen.write('after\n');
    expect(shown(screen.text, 100)).toEqual(['before', 'after', '']);
  });

  it.each([10, 20, 40, 60, 200])('fits %d columns', (columns) => {
    const screen = new Written(true, columns);
    const view = new ProgressView(screen, ['A', 'B']);
    view.progress(progress());
    for (const line of shown(screen.text, 10_000)) expect(line.length).toBeLessThan(columns);
    expect(shown(screen.text, 10_000).filter((line) => line !== '')).toHaveLength(3);
  });

  it('leaves nothing behind on a terminal that became narrower, which wraps what it shows', () => {
    const screen = new Written(true, 100);
    const view = new ProgressView(screen, ['A']);
    view.progress(progress({ elapsedMs: 0 }));
    const wrapped = shown(screen.text, 30).length;
    screen.columns = 30;
    const before = screen.text.length;
    view.progress(progress({ elapsedMs: 500 }));
    expect(Number(/\u001B\[(\d+)A/.exec(screen.text.slice(before))![1])).toBe(wrapped - 1);
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
    expect(shown(young.text, 1000)[1]).toBe('1 call answered  0 errors  first token 0.1 s');
    expect(shown(screen.text, 1000)[1]).toBe('programs 2 s on average  1 error  first token 0.2 s');
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
    expect(lines[0]).toMatch(/^0:30, 4 of 40 programs, .*A: .*B: /);
    view.progress(progress({ elapsedMs: 150_000, programsTotal: 120, runs: 3 }));
    expect(screen.text).toMatch(/^2:30, 4 of 120 programs in 3 runs, /m);
  });
});
