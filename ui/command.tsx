import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { post } from './stream.js';

interface CommandProps {
  readonly path: string;
  readonly label?: string;
  readonly isDangerous?: true;
  readonly isOff?: boolean;
  readonly children: ComponentChildren;
}

/** A button that sends a command to the gateway, and says what was wrong with it. */
export function Command({ path, label, isDangerous, isOff = false, children }: CommandProps) {
  const problem = useSignal<string | undefined>(undefined);
  const send = async () => {
    problem.value = await post(path);
  };
  return (
    <>
      <button
        type="button"
        class={isDangerous && 'danger'}
        aria-label={label}
        disabled={isOff}
        onClick={() => void send()}
      >
        {children}
      </button>
      {problem.value !== undefined && (
        <span class="warn" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
