import { describe, expect, it } from 'vitest';
import { Agenda, Appointment, RANK, type Rank } from '../../../sim/virtual/agenda.js';

function play(entries: readonly (readonly [atMs: number, rank: Rank, name: string])[]) {
  const agenda = new Agenda();
  let seen = '';
  const made = entries.map(([atMs, rank, name]) => {
    const entry = new Appointment(rank, () => (seen += name));
    agenda.set(entry, atMs);
    return entry;
  });
  const rest = () => {
    for (let next = agenda.take(); next !== undefined; next = agenda.take()) next.happen();
    return seen;
  };
  return { agenda, made, rest };
}

describe('the agenda', () => {
  it('gives entries back by time, then by kind, then in the order in which they were put down', () => {
    const { agenda, rest } = play([
      [5, RANK.stepEnds, 'g'],
      [1, RANK.wake, 'a'],
      [3, RANK.wake, 'e'],
      [3, RANK.callArrives, 'c'],
      [3, RANK.callArrives, 'd'],
      [3, RANK.stepEnds, 'b'],
      [3, RANK.stepBegins, 'f'],
    ]);
    expect(rest()).toBe('abcdefg');
    expect(agenda.size).toBe(0);
  });

  it('moves an entry, to the end of those at its new time', () => {
    const { agenda, made, rest } = play(['a', 'b', 'c', 'd'].map((name, at) => [at + 1, RANK.wake, name] as const));
    agenda.set(made[0]!, 3);
    agenda.set(made[3]!, 0);
    expect(agenda.size).toBe(4);
    expect(rest()).toBe('dbca');
  });
});
