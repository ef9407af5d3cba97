/** One finding of the doctor. */
export interface Finding {
  /** `broken`: calls will fail. `warning`: they run worse than they could, or less safely. `note`: for information. */
  readonly level: 'ok' | 'note' | 'warning' | 'broken';
  /** The subject, such as `engine gpu-1`. */
  readonly subject: string;
  readonly found: string;
  /** The remedy; absent: none. */
  readonly advice?: string;
}

/** Largest difference between clocks that is none: `Date` has whole seconds, and answers take time. */
const CLOCK_MS_MAX = 5000;

/** Judges another machine's `Date` against the clock here. */
export function clockFinding(subject: string, date: string | undefined): Finding[] {
  const atMs = Date.parse(date ?? '');
  if (Number.isNaN(atMs)) return [];
  const aheadMs = atMs - Date.now();
  if (Math.abs(aheadMs) <= CLOCK_MS_MAX) return [];
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const found = `its clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine’s`;
  return [{ level: 'warning', subject, found, advice: 'run NTP on both: logs and Retry-After dates will not agree' }];
}
