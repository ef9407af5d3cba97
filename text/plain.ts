/** Replaces all characters that control a terminal, as names and texts from outside are untrusted. Lines stay lines. */
export const plain = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, '\uFFFD');

/** Names come from clients and may be long, and often differ only at their ends. */
export const brief = (name: string, charsMax = 60): string =>
  name.length <= charsMax ? name : `${name.slice(0, charsMax - 9)}…${name.slice(-8)}`;
