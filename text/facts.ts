interface Status {
  readonly parts: readonly { readonly level: string; readonly about?: string; readonly text: string }[];
  readonly helps: string;
}

/** A gateway's status, a fact a line: what is wrong, and its remedies; failed calls, of which much may be told; all else. */
export function factsOf({ parts, helps }: Status): Status['parts'] {
  const at = parts.findIndex(({ level, about }, at) => level === 'good' || (about === 'failures' && at > 0));
  return parts.toSpliced(at < 0 ? parts.length : at, 0, ...(helps ? [{ level: 'helps', text: helps }] : []));
}
