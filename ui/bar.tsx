interface BarProps {
  readonly label: string;
  readonly text: string;
  readonly value: number;
  /** Null: without a bound there is no bar. */
  readonly max: number | null;
  /** A limit before the maximum. */
  readonly mark?: number | null;
}

/** A figure and, where it has a bound, a bar of it. */
export function Bar({ label, text, value, max, mark = null }: BarProps) {
  const share = (part: number) => `${Math.min(100, (100 * part) / (max ?? 1))}%`;
  const isFull = max !== null && value >= (mark ?? max);
  return (
    <div class="bar">
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
          <div class={isFull ? 'fill full' : 'fill'} style={{ width: share(value) }} />
          {mark !== null && mark < max && <div class="mark" style={{ left: share(mark) }} />}
        </div>
      )}
    </div>
  );
}
