interface Status {
  readonly parts: readonly { readonly level: string; readonly about?: string; readonly text: string }[];
  readonly helps: string;
}

/** A gateway's status, a fact a line. Remedies stand behind what is wrong first, before failed calls, of which much may be told. */
export function factsOf({ parts, helps }: Status): Status['parts'] {
  const first = parts.findIndex(({ level }) => level !== 'good');
  const at = parts.findIndex(({ level, about }, at) => at > first && (level === 'good' || about === 'failures'));
  return parts.toSpliced(at < 0 ? parts.length : at, 0, ...(helps ? [{ level: 'helps', text: helps }] : []));
}
