import { brief } from './format.js';

/** Longer names are no names. */
const NAME_MAX = 200;

/** Behind a part of a name, but not in a number. */
const SEAM = /(?<=[/_:@-])|(?<=\.)(?=[a-z])/i;

/** A whole name, broken between its parts where it needs more than a line: names may differ anywhere. */
export const Whole = ({ text }: { readonly text: string }) => (
  <>
    {brief(text, NAME_MAX)
      .split(SEAM)
      .flatMap((part, at) => (at === 0 ? part : [<wbr key={at} />, part]))}
  </>
);
