export type OnViolation = (message: string) => void;

const loud: OnViolation = (message) => {
  throw new Error(`invariant broken: ${message}`);
};

let onViolation = loud;

/** Sets the receiver of broken invariants; each step of a scheduler begins with this. Absent: they throw. */
export function tellViolationsTo(next: OnViolation = loud): void {
  onViolation = next;
}

/** Asserts a condition that holds whatever drivers, clients and engines do. Breaking it is a fault of the core. */
export function invariant(condition: boolean, message: string): void {
  if (!condition) onViolation(message);
}

/** Counts violations before they are told. */
export function counted(totals: { violations: number }, tell: OnViolation): OnViolation {
  return (message) => {
    totals.violations += 1;
    tell(message);
  };
}
