/** Replaces all characters that control a terminal, as names and texts from outside are untrusted. Lines stay lines. */
export const plain = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, '\uFFFD');
