/** Nothing that a terminal would obey: names and texts of files and targets may be anybody's. Lines stay lines. */
export const plain = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, '\uFFFD');
