interface BarProps {
  readonly label: string;
  readonly text: string;
  readonly title?: string;
  readonly value: number;
  /** Null: without a bound there is no bar. */
  readonly max: number | null;
}

/** A figure and, where it has a bound, a bar of it. */
export function Bar({ label, text, title, value, max }: BarProps) {
  return (
    <div class="bar" title={title}>
      <span class="label">{label}</span>
      <span class="text">{text}</span>
      {max !== null && max > 0 && (
        <div
          class="track"
          role="meter"
          aria-label={label}
          aria-valuenow={Math.min(value, max)}
          aria-valuemin={0}
          aria-valuemax={max}
          aria-valuetext={text}
        >
          <div class="fill" style={{ width: `${Math.min(100, (100 * value) / max)}%` }} />
        </div>
      )}
    </div>
  );
}
