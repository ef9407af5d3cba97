import { brief } from './format.js';

/** Longer names are no names. */
export const NAME_MAX = 200;
const NAME_END = 10;
/** Shorter ones fit everywhere. */
const NAME_WHOLE = 16;

interface NameProps {
  readonly text: string;
  /** In a narrow place, fewer characters of the end are kept. */
  readonly isShort?: boolean;
}

/** A name on one line. Names often differ only at their end: where there is no room, the middle is left out. */
export function Name({ text, isShort = false }: NameProps) {
  const shown = brief(text, NAME_MAX);
  if (shown.length <= NAME_WHOLE) return shown;
  const end = isShort ? NAME_END / 2 : NAME_END;
  return (
    <span class={isShort ? 'name short' : 'name'}>
      <span>{shown.slice(0, -end)}</span>
      <span>{shown.slice(-end)}</span>
    </span>
  );
}

/** Behind a part of a name, but not in a number. */
const SEAM = /(?<=[/_:@-])|(?<=\.)(?=[a-z])/i;

/** A whole name, broken between its parts where it needs more than a line. */
export const Whole = ({ text }: { readonly text: string }) => (
  <>
    {brief(text, NAME_MAX)
      .split(SEAM)
      .flatMap((part, at) => (at === 0 ? part : [<wbr key={at} />, part]))}
  </>
);
