import { describe, expect, it } from 'vitest';
import { Desk } from '../../support/core-desk.js';
import { arrived, cancelled, ended, sized } from '../../support/core-events.js';
import { millis, programId, tokens } from '../../../src/index.js';

const CAPACITY = 160_000;
const QUESTION = { id: 7, tokens: 0 };
type Family = typeof QUESTION;

/** An engine with a gate. */
function gated(forecast: 'learnt' | 'length' = 'learnt'): Desk {
  return new Desk({ admission: { gate: 1, outputReserveTokens: 0, forecast } }).with('A', sized(300, CAPACITY));
}

/** An engine on which programs have run that began with `first` tokens and grew by 1,000 in each of `calls` calls. */
function taught({ programs = 40, calls = 10, first = 1_000 } = {}, desk = gated()): Desk {
  for (let n = 0; n < programs; n += 1) {
    for (let at = 0; at < calls; at += 1) {
      const prompt = first + 1_000 * at;
      desk.serve(`${n}.${at}`, { program: `p${n}`, prompt }, { prompt, output: 0 });
      desk.pass(10);
    }
    desk.tell(ended(`p${n}`));
  }
  return desk;
}

/** How many newcomers of this length are let in at once. */
function letIn(desk: Desk, prompt: number, family?: Family): number {
  // The claims of those before them have faded.
  desk.pass(100_000);
  let sent = 0;
  for (let n = 0; n < 200; n += 1) {
    const commands = desk.arrive(`new${n}`, { program: `new${n}`, prompt, ...(family && { family }) });
    sent += commands.filter(({ type }) => type === 'dispatch').length;
  }
  return sent;
}

/** A program of 40 rounds of calls, so many at a time. Shared: another gateway gets every other round, and the last of every other program. */
function searched(desk: Desk, n: number, beside: number, isShared: boolean): void {
  const program = `p${n}`;
  const calls = isShared ? 20 : 40;
  for (let at = 0; at < calls; at += 1) {
    const [prompt, done] = [1_000 + (at * 10_000) / calls, 2 * at * beside];
    const ids = Array.from({ length: beside }, (_, call) => `${program}.${at}.${call}`);
    for (const id of ids) {
      const root = { calls: done, firstPromptTokens: tokens(1_000), contextTokens: tokens(prompt - 250) };
      const elsewhere = { serviceMs: millis(1), calls: done, root };
      desk.tell({ ...arrived(id, { program, prompt }), ...(isShared && at > 0 && { elsewhere }) });
      if (isShared && (at < calls - 1 || n % 2 === 0)) desk.tell({ type: 'programMoved', program: programId(program) });
    }
    desk.pass(10);
    for (const id of ids) desk.finish(id, { prompt, output: 0 });
    desk.pass(10);
  }
  desk.tell(ended(program));
}

/** As `taught`, but some calls of each program end otherwise and are sent again. */
function interrupted(howEnded: 'refused' | 'cancelled' | 'cancelled while it runs', perProgram: number): Desk {
  const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0, window: 1 }, limits: { queuedMax: 1 } }).with(
    'A',
    { capacity: CAPACITY },
  );
  for (let n = 0; n < 40; n += 1) {
    for (let at = 0; at < 3; at += 1) {
      const prompt = 1_000 + 1_000 * at;
      const facts = { program: `p${n}`, prompt };
      for (let time = 0; at > 0 && time < perProgram; time += 1) {
        const [blocker, next, lost] = [`b${n}.${at}.${time}`, `q${n}.${at}.${time}`, `l${n}.${at}.${time}`];
        if (howEnded !== 'cancelled while it runs')
          for (const id of [blocker, next]) desk.arrive(id, { program: `other${id}`, prompt: 1 });
        if (howEnded === 'cancelled') desk.tell(cancelled(next));
        desk.arrive(lost, facts);
        expect(desk.refusalOf(lost)).toBe(howEnded === 'refused' ? 'queue_full' : undefined);
        for (const id of [lost, next, blocker]) desk.tell(cancelled(id));
      }
      desk.serve(`${n}.${at}`, facts, { prompt, output: 0 });
      desk.pass(10);
    }
    desk.tell(ended(`p${n}`));
  }
  desk.configure({ admission: { gate: 1, outputReserveTokens: 0, window: 300 } });
  return desk;
}

describe('a newcomer to a gated engine', () => {
  it('counts as much as those that began alike came to hold late in their lives', () => {
    // Each of them counts 1,000 + 1,000 x 10 x 5/8 tokens, or a little less: nearly all of those before it went on.
    const sent = letIn(taught(), 1_000);
    expect(sent).toBeGreaterThanOrEqual(20);
    expect(sent).toBeLessThanOrEqual(26);
  });

  it.each([
    ['learnt', 160],
    ['length', 20],
  ] as const)('with the forecast %s, a question beside agents as long is one of its type or not', (forecast, most) => {
    const desk = taught({ programs: 200 }, gated(forecast));
    for (let n = 0; n < 20; n += 1) {
      const id = `question${n}`;
      desk.serve(id, { program: id, prompt: 1_000, family: QUESTION }, { prompt: 1_000, output: 0 });
      desk.tell(ended(id));
    }
    const sent = letIn(desk, 1_000, QUESTION);
    if (forecast === 'learnt') expect(sent).toBe(most);
    else expect(sent).toBeLessThan(2 * most);
    // Of a type seen for the first time, the length of its prompt is all that is known.
    expect(letIn(taught(), 1_000, QUESTION)).toBeLessThan(40);
  });

  it('counts what it holds where nothing is known of its kind, or where its kind does not go on', () => {
    expect(letIn(taught(), 8_000)).toBe(20);
    expect(letIn(taught({ calls: 1 }), 1_000)).toBe(160);
  });

  it('counts the share of the growth that its kind comes to, when only some go on', () => {
    const desk = taught({ programs: 20 });
    for (let n = 0; n < 60; n += 1) {
      desk.serve(`once${n}`, { program: `once${n}`, prompt: 1_000 }, { prompt: 1_000, output: 0 });
      desk.tell(ended(`once${n}`));
    }
    const sent = letIn(desk, 1_000);
    expect(sent).toBeGreaterThan(30);
    expect(sent).toBeLessThan(120);
  });

  it('counts the answers of calls that run side by side, each of which adds its own', () => {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0 } }).with('A', sized(300, CAPACITY));
    for (let n = 0; n < 40; n += 1) {
      const ids = Array.from({ length: 9 }, (_, at) => `${n}.${at}`);
      for (const beside of [ids.slice(0, 1), ids.slice(1)]) {
        for (const id of beside) desk.arrive(id, { program: `p${n}`, prompt: 1_000 });
        desk.pass(10);
        for (const id of beside) desk.finish(id, { prompt: 1_000, output: 1_000 });
      }
      desk.tell(ended(`p${n}`));
    }
    // 1,000 + 1,000 x 9 x 5/8 at most; contexts of 2,000, as all of them are, would let in 80.
    const sent = letIn(desk, 1_000);
    expect(sent).toBeGreaterThanOrEqual(24);
    expect(sent).toBeLessThanOrEqual(34);
  });

  it.each([1, 4])('counts the same when every other call of programs with %i at a time ran elsewhere', (beside) => {
    const learnt = (isShared: boolean) => {
      const desk = gated();
      for (let n = 0; n < 40; n += 1) searched(desk, n, beside, isShared);
      return letIn(desk, 1_000);
    };
    expect(learnt(true)).toBeGreaterThan(0.8 * learnt(false));
    expect(learnt(true)).toBeLessThan(1.25 * learnt(false));
  });

  it('counts the same when some of the calls before were refused or cancelled and sent again', () => {
    const undisturbed = letIn(interrupted('refused', 0), 1_000);
    expect(undisturbed).toBeGreaterThan(50);
    for (const howEnded of ['refused', 'cancelled', 'cancelled while it runs'] as const)
      expect(letIn(interrupted(howEnded, 2), 1_000), howEnded).toBe(undisturbed);
  });

  it('is let in beside fifteen others however much its kind grows', () => {
    expect(letIn(taught({ calls: 60 }), 1_000)).toBe(16);
  });

  it('is not counted on to grow when it is a sub-agent', () => {
    const desk = taught();
    desk.arrive('root', { program: 'p', prompt: 1_000 });
    const sent = Array.from({ length: 100 }, (_, n) =>
      desk.arrive(`sub${n}`, { program: 'p', thread: `t${n}`, prompt: 1_000 }),
    );
    expect(sent.flat().filter(({ type }) => type === 'dispatch')).toHaveLength(100);
  });

  it('is not counted on to grow by what sub-agents have held between the calls of its kind', () => {
    const desk = new Desk({ admission: { gate: 1, outputReserveTokens: 0 } }).with('A', sized(300, CAPACITY));
    for (let n = 0; n < 40; n += 1) {
      for (let at = 0; at < 10; at += 1) {
        const [thread, prompt] = at % 2 === 0 ? ['', 8_000] : [`t${at}`, 100];
        desk.serve(`${n}.${at}`, { program: `p${n}`, thread, prompt }, { prompt, output: 0 });
        desk.pass(10);
      }
      desk.tell(ended(`p${n}`));
    }
    expect(letIn(desk, 8_000)).toBe(20);
  });
});
