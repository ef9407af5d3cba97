import { Whole } from './names.js';

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
      <span>{label}</span>
      <span>{text}</span>
      {max !== null && max > 0 && (
        <div
          class="track"
          role="meter"
          aria-label={label}
          aria-valuetext={text}
          aria-valuenow={Math.min(value, max)}
          aria-valuemin={0}
          aria-valuemax={max}
          style={{ backgroundSize: `${Math.min(100, (100 * value) / max)}% 100%` }}
        />
      )}
    </div>
  );
}

/** A name, its figure and, where the name does not say it, what it means. */
export type Fact = readonly [name: string, value: string, meaning?: string];

export const Facts = ({ facts, style }: { readonly facts: readonly Fact[]; readonly style: string }) => (
  <dl class={style}>
    {facts.map(([name, value, meaning]) => (
      <div key={name}>
        <dt title={meaning}>{name}</dt>
        <dd title={value}>
          <Whole text={value} />
        </dd>
      </div>
    ))}
  </dl>
);
