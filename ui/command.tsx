import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { connection, go, urlOf, type View } from './state.js';
import { post } from './stream.js';

interface CommandProps {
  readonly path: string;
  readonly label?: string;
  /** To be confirmed first. */
  readonly question?: string;
  readonly isOff?: boolean;
  readonly children: ComponentChildren;
}

/** A button that sends a command to the gateway, and says what was wrong with it. */
export function Command({ path, label, question, isOff = false, children }: CommandProps) {
  const problem = useSignal<string | undefined>(undefined);
  const isDisabled = isOff || connection.value.state !== 'live';
  const send = async () => {
    if (question !== undefined && !confirm(question)) return;
    const fault = await post(path);
    const isSure = fault?.code === 'last_engine' && confirm(fault.message);
    problem.value = (isSure ? await post(`${path}?force`) : fault)?.message;
  };
  return (
    <>
      <button type="button" aria-label={label} disabled={isDisabled} onClick={() => void send()}>
        {children}
      </button>
      {problem.value !== undefined && (
        <span class="warn" role="alert">
          {problem.value}
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
