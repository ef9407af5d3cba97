/** Most tools of one answer, and characters of one name: no harness needs as many. */
const TOOLS_MAX = 16;
const NAME_CHARS_MAX = 128;

/** The name by which the scheduler knows a tool; '' if it has none. */
export const toolName = (name: string): string => name.slice(0, NAME_CHARS_MAX).trim();

/** The tools that an answer asks for, each once. */
export const toolNames = (names: readonly string[]): string[] =>
  [...new Set(names.map(toolName))].filter((name) => name !== '').slice(0, TOOLS_MAX);
