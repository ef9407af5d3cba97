import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { go, urlOf, type View } from './state.js';
import { post } from './stream.js';

interface CommandProps {
  readonly path: string;
  readonly label?: string;
  /** To be confirmed first. */
  readonly question?: string;
  /** Told when it was taken and nothing else shows that. */
  readonly done?: string;
  readonly isOff?: boolean;
  readonly children: ComponentChildren;
}

/** A button that sends a command to the gateway, and says what was wrong with it. */
export function Command({ path, label, question, done = '', isOff = false, children }: CommandProps) {
  const outcome = useSignal({ style: '', text: '' });
  const send = async () => {
    if (question !== undefined && !confirm(question)) return;
    const problem = await post(path);
    outcome.value = problem === undefined ? { style: 'quiet', text: done } : { style: 'warn', text: problem };
  };
  return (
    <>
      <button type="button" aria-label={label} disabled={isOff} onClick={() => void send()}>
        {children}
      </button>
      {outcome.value.text !== '' && (
        <span class={outcome.value.style} role="alert">
          {outcome.value.text}
        </span>
      )}
    </>
  );
}

/** To another view of the page. */
export const Link = ({ change, children }: { change: Partial<View>; children: ComponentChildren }) => (
  <a href={urlOf(change)} onClick={(event) => go(event, change)}>
    {children}
  </a>
);

interface ChoicesProps {
  readonly names: Readonly<Record<string, string>>;
  readonly now: string;
  readonly choose: (name: string) => void;
}

/** A button for each name, of which one is pressed. */
export const Choices = ({ names, now, choose }: ChoicesProps) => (
  <p class="choices">
    {Object.entries(names).map(([name, words]) => (
      <button key={name} type="button" aria-pressed={now === name} onClick={() => choose(name)}>
        {words}
      </button>
    ))}
  </p>
);
