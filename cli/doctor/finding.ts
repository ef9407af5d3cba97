export interface Finding {
  /** `broken`: calls will fail. `warning`: they run worse than they could, or less safely. `note`: for information. */
  readonly level: 'ok' | 'note' | 'warning' | 'broken';
  readonly subject: string;
  readonly found: string;
  readonly advice?: string;
}
