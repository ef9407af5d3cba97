/** Hears of a broken invariant. */
export type OnViolation = (message: string) => void;

const loud: OnViolation = (message) => {
  throw new Error(`invariant broken: ${message}`);
};

let onViolation = loud;

/** Where broken invariants are told from now on; each scheduler's steps begin with this. Absent: they throw. */
export function tellViolationsTo(next: OnViolation = loud): void {
  onViolation = next;
}

/** Something that holds whatever drivers, clients and engines do: what breaks it is a fault in the core. */
export function invariant(condition: boolean, message: string): void {
  if (!condition) onViolation(message);
}
