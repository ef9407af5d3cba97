/** A change after which the same events may give other commands. */
export interface BehaviourChange {
  readonly behaviour: number;
  /** The change, in one sentence. */
  readonly change: string;
  /** The commands that differ, and when. */
  readonly differs: string;
}

export const FIRST_BEHAVIOUR = 8;

/** Changes since then; a replay tells them from faults. `test/cli/behaviours.test.ts` says when one is due. */
export const BEHAVIOUR_CHANGES: readonly BehaviourChange[] = [
  {
    behaviour: 9,
    change:
      'The knee holds calls until contexts in use and claims take four fifths of the gate, not only until those in use take half.',
    differs: 'The calls that the knee holds, where contexts fill half of a cache.',
  },
  {
    behaviour: 10,
    change:
      'In a small cache a return is worth 1.5 times the prefill of what runs, at most 4 s, instead of always 4 s. A call that may run anywhere gives up its own claim.',
    differs:
      'How long idle contexts hold room in caches that fill in less than 16 s, and when calls of short prompts run.',
  },
  {
    behaviour: 11,
    change:
      'Retention learns also of returns to contexts that the cache had lost, where they came soon enough to be worth the room.',
    differs:
      'How long idle contexts hold room in caches that lose some of them within 80 s, and so which newcomers run.',
  },
  {
    behaviour: 12,
    change:
      'Retention reckons that a context which returns is held for half of the step of its return, not for all of it.',
    differs: 'How long idle contexts that return within seconds hold room, and so which newcomers run.',
  },
  {
    behaviour: 13,
    change: 'With `charge: work`, waiting before a program’s last promotion counts for no further one.',
    differs: 'Which calls of programs that were promoted are moved to the front.',
  },
];

export const BEHAVIOUR = BEHAVIOUR_CHANGES.at(-1)?.behaviour ?? FIRST_BEHAVIOUR;
