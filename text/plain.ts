/**
 * Replaces all characters that control a terminal, since names and texts from files and targets are untrusted. Lines
 * stay lines.
 */
export const plain = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, '\uFFFD');
