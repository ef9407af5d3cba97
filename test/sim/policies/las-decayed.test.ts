import { describe, expect, it } from 'vitest';
import { LasDecayed } from '../../../sim/policies/las-decayed.js';
import { Desk, orderFrom, use } from '../../support/core-desk.js';

/** One slot, so that everything after the first call waits. */
const narrowDesk = () => new Desk({}, 'program-affinity', new LasDecayed()).with('A', { window: 1 });

describe('las-decayed', () => {
  it('ranks by prompt plus twice the output of what the program has had', () => {
    const desk = narrowDesk();
    use(desk, 'reader', 0, 10_000, 100);
    use(desk, 'writer', 0, 1_000, 6_000);
    use(desk, 'small', 0, 1_000, 100);
    desk.arrive('run');
    desk.arrive('w', { program: 'writer' });
    desk.arrive('r', { program: 'reader' });
    desk.arrive('s', { program: 'small' });
    expect(orderFrom(desk, 'run')).toEqual(['s', 'r', 'w']);
  });

  it('forgets half of it every 60 s', () => {
    const desk = narrowDesk();
    use(desk, 'once-heavy', 0, 40_000, 0);
    desk.pass(180_000); // 5,000 are left.
    use(desk, 'now-lighter', 0, 10_000, 0);
    desk.arrive('run');
    desk.arrive('l', { program: 'now-lighter' });
    desk.arrive('h', { program: 'once-heavy' });
    expect(orderFrom(desk, 'run')).toEqual(['h', 'l']);
  });

  it('weighs waiting: what came much earlier goes first though its program had somewhat more', () => {
    const desk = narrowDesk();
    use(desk, 'p', 0, 4_000, 0); // 0.8 x 4,000 / 32,768, worth some 29 s of waiting.
    desk.arrive('run');
    desk.arrive('p1', { program: 'p' });
    desk.pass(20_000);
    desk.arrive('n20');
    desk.pass(20_000);
    desk.arrive('n40');
    expect(orderFrom(desk, 'run')).toEqual(['n20', 'p1', 'n40']);
  });
});
