import { describe, expect, it } from 'vitest';
import { millis, programId, type ForesightName, type NextCall } from '../../../src/index.js';
import { Desk } from '../../support/core-desk.js';
import { ended, toolFinished, toolStarted } from '../../support/core-events.js';

const FAMILY = { id: 1, tokens: 50 };

function deskWith(foresight: ForesightName): Desk {
  const desk = new Desk({ policy: { foresight } });
  desk.join('A', { window: 100 });
  return desk;
}

let calls = 0;
/** One call of the program, answered at once: each prompt is 40 tokens longer than the context before. */
function answer(desk: Desk, program: string, turn: number, tools: readonly string[], thread = ''): void {
  const call = `c${(calls += 1)}`;
  const prompt = 100 + turn * 50;
  desk.arrive(call, { program, thread, prompt, family: FAMILY });
  desk.finish(call, { prompt, output: 10, tools });
}

/** A program that reads for 300 ms, tests for 4 s, and then answers in words. */
function play(desk: Desk, program: string, thread = ''): void {
  answer(desk, program, 0, ['read'], thread);
  desk.pass(300);
  answer(desk, program, 1, ['test', 'bash'], thread);
  desk.pass(4_000);
  answer(desk, program, 2, [], thread);
}

function taught(programs: number, foresight: ForesightName = 'learnt'): Desk {
  const desk = deskWith(foresight);
  for (let done = 0; done < programs; done += 1) {
    play(desk, `taught${done}`);
    desk.tell(ended(`taught${done}`));
  }
  return desk;
}

const next = (desk: Desk, program = 'p', thread = ''): NextCall | undefined =>
  desk.scheduler.views.next(programId(program), thread, millis(desk.nowMs));

describe('the next call of a thread', () => {
  it('is foreseen once thirty programs of its agent type have ended', () => {
    const early = taught(29);
    answer(early, 'p', 0, ['read']);
    expect(next(early)).toBeUndefined();
    const desk = taught(30);
    answer(desk, 'p', 0, ['read']);
    expect(next(desk)).toMatchObject({ moreTokens: 40, tools: 'bash, test' });
    expect(next(desk)!.probability).toBeGreaterThan(0.98);
    answer(desk, 'p', 2, []);
    expect(next(desk)).toMatchObject({ moreTokens: 0, tools: undefined });
    expect(next(desk)!.probability).toBeLessThan(0.1);
  });

  it('is not told its tools where no answer is likely enough to follow', () => {
    const desk = deskWith('learnt');
    for (let done = 0; done < 60; done += 1) {
      answer(desk, `p${done}`, 0, ['read']);
      answer(desk, `p${done}`, 1, [done % 5 < 3 ? 'test' : 'lint']);
      desk.tell(ended(`p${done}`));
    }
    answer(desk, 'p', 0, ['read']);
    expect(next(desk)).toMatchObject({ moreTokens: 40, tools: undefined });
  });

  it('comes when the tools of its answer have ended', () => {
    const desk = taught(100);
    answer(desk, 'p', 0, ['read']);
    desk.pass(100);
    expect(next(desk)).toMatchObject({ medianMs: 200, p95Ms: 200 });
    answer(desk, 'p', 1, ['bash', 'test', 'bash']);
    expect(next(desk)).toMatchObject({ medianMs: 4_000, p95Ms: 4_000, tools: '' });
  });

  it('is less likely the longer the thread is silent', () => {
    const desk = taught(120);
    answer(desk, 'p', 0, ['read']);
    const course = [0, 100, 400, 10_000, 100_000].map((ms) => {
      desk.pass(ms);
      return next(desk)!.probability;
    });
    expect(course).toEqual(course.toSorted((a, b) => b - a));
    expect(course[1]).toBeGreaterThan(0.98);
    expect(course[4]).toBeLessThan(0.01);
  });

  it('is not foreseen while a call is in flight, nor of a thread, program or node never seen', () => {
    const desk = taught(40);
    answer(desk, 'p', 0, ['read']);
    desk.arrive('q', { program: 'p', family: FAMILY });
    expect([next(desk), next(desk, 'p', 'sub'), next(desk, 'nobody')]).toEqual([undefined, undefined, undefined]);
    desk.finish('q', { prompt: 200, output: 1, tools: ['dance'] });
    expect(next(desk)).toBeUndefined();
  });

  it('is foreseen for each agent type by its own programs', () => {
    const desk = taught(40);
    for (const facts of [{ family: { id: 2, tokens: 50 } }, { family: FAMILY, tenant: 'other' }]) {
      const program = `p${desk.nowMs}${facts.family.id}`;
      desk.arrive(program, { program, ...facts });
      desk.finish(program, { prompt: 100, output: 10, tools: ['read'] });
      expect(next(desk, program)).toBeUndefined();
    }
  });

  it('is foreseen in a sub-agent’s thread by the threads of its type', () => {
    const desk = deskWith('learnt');
    for (let thread = 0; thread < 40; thread += 1) play(desk, 'p', `sub${thread}`);
    desk.tell(ended('p'));
    answer(desk, 'q', 0, ['read'], 'sub');
    expect(next(desk, 'q', 'sub')).toMatchObject({ tools: 'bash, test' });
    expect(next(desk, 'q')).toBeUndefined();
  });

  it('of a program with more threads than are followed is foreseen for the last of them', () => {
    const desk = taught(40);
    for (let thread = 0; thread < 70; thread += 1) answer(desk, 'p', 0, ['read'], `sub${thread}`);
    expect(next(desk, 'p', 'sub5')).toBeUndefined();
    expect(next(desk, 'p', 'sub69')).toBeDefined();
  });

  it('counts a program that was idle for long as ended, and takes that back when it returns', () => {
    const desk = deskWith('learnt');
    for (let done = 0; done < 60; done += 1) answer(desk, `p${done}`, 0, ['read']);
    desk.pass(1_000_000);
    answer(desk, 'q', 0, ['read']);
    const before = next(desk, 'q')!.probability;
    expect(before).toBeLessThan(0.2);
    for (let done = 0; done < 60; done += 1) answer(desk, `p${done}`, 1, []);
    expect(next(desk, 'q')!.probability).toBeGreaterThan(before + 0.5);
  });

  it('is not foreseen without foresight, and a reload to it forgets where threads stood', () => {
    const desk = taught(40, 'none');
    answer(desk, 'p', 0, ['read']);
    expect(next(desk)).toBeUndefined();
    desk.configure({ policy: { foresight: 'learnt' } });
    for (let done = 0; done < 40; done += 1) play(desk, `again${done}`);
    desk.configure({ policy: { foresight: 'none' } });
    answer(desk, 'again0', 3, ['read']);
    desk.configure({ policy: { foresight: 'learnt' } });
    expect(next(desk, 'again0')).toBeUndefined();
  });
});

describe('a tool that is told', () => {
  it('ends after the time declared for it, while its own is not known', () => {
    const desk = taught(30);
    answer(desk, 'p', 0, ['read']);
    desk.tell(toolStarted('p', 'read', { expectedMs: 60_000 }));
    expect(next(desk)!.medianMs).toBeGreaterThan(10_000);
    desk.pass(20_000);
    expect(next(desk)!.probability).toBeGreaterThan(0.9);
  });

  it('is waited for from its start to its end, also while others run', () => {
    const desk = taught(120);
    answer(desk, 'p', 1, ['bash', 'test']);
    desk.tell(toolStarted('p', 'read'));
    desk.pass(250);
    desk.tell(toolStarted('p', 'read'));
    desk.pass(40);
    expect(next(desk)!.medianMs).toBe(260);
    desk.tell(toolFinished('p', 'read'));
    expect(next(desk)!.medianMs).toBe(260);
    desk.tell(toolFinished('p', 'read'));
    // Now the client's own time, which nothing is known of.
    expect(next(desk)!.medianMs).toBeGreaterThan(1_000);
  });

  it('teaches its own latency, and not the client’s time until the next call', () => {
    const desk = taught(30);
    for (let turn = 0; turn < 120; turn += 1) {
      answer(desk, 'p', turn, ['lint']);
      desk.tell(toolStarted('p', 'lint'));
      desk.pass(700);
      desk.tell(toolFinished('p', 'lint'));
      desk.pass(50);
    }
    answer(desk, 'p', 120, ['lint']);
    expect(next(desk)).toMatchObject({ medianMs: 700, p95Ms: 700 });
    desk.tell(toolFinished('p', 'lint'));
    expect(next(desk)).toMatchObject({ medianMs: 50, p95Ms: 50 });
  });

  it('may be told before its answer has ended; of unknown programs, threads and tools nothing changes', () => {
    const desk = taught(120);
    desk.arrive('c', { program: 'p', prompt: 100, family: FAMILY });
    desk.tell(toolStarted('p', 'read'));
    desk.pass(100);
    desk.finish('c', { prompt: 100, output: 10, tools: ['read'] });
    const before = next(desk);
    expect(before!.medianMs).toBe(200);
    desk.tell(toolStarted('nobody', 'read'));
    desk.tell(toolStarted('p', 'read', { thread: 'nobody' }));
    desk.tell(toolFinished('p', 'dance'));
    expect(next(desk)).toEqual(before);
  });
});

describe('how right forecasts have proved', () => {
  it('counts the times of tools by the foreseen quantiles that they stayed within', () => {
    const desk = deskWith('learnt');
    const time = (ms: number): void => {
      answer(desk, 'p', 0, ['lint']);
      desk.pass(ms);
    };
    // Before a hundred were seen: 2 s in the median, 10 s in the 95th percentile.
    for (const ms of [...Array.from({ length: 98 }, () => 1_000), 9_000, 11_000]) time(ms);
    const { times } = desk.scheduler.views.accuracy;
    answer(desk, 'p', 0, ['lint']);
    expect(times.prior).toEqual({ p50: 98, p95: 1, none: 1 });
    desk.pass(1_000);
    answer(desk, 'p', 0, ['lint']);
    desk.tell(toolStarted('p', 'lint', { expectedMs: 60_000 }));
    desk.pass(100_000);
    desk.tell(toolFinished('p', 'lint'));
    expect(times).toMatchObject({ learnt: { p50: 1, p95: 0, none: 0 }, declared: { p50: 0, p95: 0, none: 1 } });
  });

  it('counts right and wrong successors, once they are foreseen', () => {
    const desk = taught(30);
    expect(desk.scheduler.views.accuracy.successors).toEqual({ right: 0, wrong: 0 });
    play(desk, 'p');
    answer(desk, 'q', 0, ['read']);
    answer(desk, 'q', 1, ['dance']);
    expect(desk.scheduler.views.accuracy.successors).toEqual({ right: 2, wrong: 1 });
  });

  it('compares the first forecast of a program with the service that it took', () => {
    const desk = deskWith('learnt');
    const run = (program: string, serviceMs: number): void => {
      desk.arrive(program, { program, family: FAMILY });
      desk.finish(program, { prompt: 100, output: 1, serviceMs });
    };
    for (let done = 0; done < 32; done += 1) {
      run(`taught${done}`, 1_000);
      desk.tell(ended(`taught${done}`));
    }
    desk.pass(64_000);
    const { rests } = desk.scheduler.views.accuracy;
    expect(rests.learnt.programs).toBe(0);
    run('p', 5_000);
    desk.tell(ended('p'));
    expect(rests.learnt).toMatchObject({ programs: 1, takenMs: 5_000 });
    expect(rests.learnt.foreseenMs).toBeGreaterThan(250);
    expect(rests.learnt.foreseenMs).toBeLessThan(1_100);
    expect(rests.learnt.errorMs).toBeCloseTo(5_000 - rests.learnt.foreseenMs, 6);
    expect(rests.declared.programs).toBe(0);
  });

  it('looks at a forecast without changing it', () => {
    const [seen, unseen] = [deskWith('learnt'), deskWith('learnt')];
    for (const desk of [seen, unseen]) {
      for (let done = 0; done < 99; done += 1) {
        for (const call of ['first', 'second']) {
          desk.arrive(call, { program: `p${done}`, family: FAMILY });
          desk.finish(call, { prompt: 100, output: 1, serviceMs: 50 * done });
        }
        // An index is read anew at every 32nd change: here after some looks, and else at the next arrival.
        if (desk === seen) desk.scheduler.views.forecast(programId(`p${done}`));
        desk.tell(ended(`p${done}`));
        desk.pass(1_000);
      }
      desk.arrive('q', { program: 'q', family: FAMILY });
    }
    const [one, other] = [seen, unseen].map((desk) => desk.scheduler.views.forecast(programId('q')));
    expect(one).toBeDefined();
    expect(one).toEqual(other);
  });
});
