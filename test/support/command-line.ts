import { expect, it, vi } from 'vitest';
import { main } from '../../cli/program.js';

/** Runs a command line in this process, one at a time: its exit code and what it wrote. */
export async function run(args: readonly string[], env: Record<string, string> = {}, command = main) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  let out = '';
  let err = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  try {
    const code = await command(['node', 'maitred', ...args]);
    return { code, out, err, errors: err.split('\n').filter((line) => line !== '') };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}

type Command = (...args: string[]) => ReturnType<typeof run>;
const wordsOf = (line: string) => line.split(' ').filter((word) => word !== '');

/** Each line is wrong usage, which takes one line to tell. */
export function itRefuses(command: Command, lines: readonly string[]): void {
  it.each(lines)('%s is wrong usage', async (line) => {
    const { code, out, errors } = await command(...wordsOf(line));
    expect({ code, out, errors }).toEqual({ code: 2, out: '', errors: [expect.stringMatching(/^maitred: /)] });
  });
}

/** Each line is wrong usage, which is told with what may be meant. */
export function itSuggests(command: Command, cases: readonly (readonly [line: string, meant: string])[]): void {
  it.each(cases)('%s is wrong usage that tells what may be meant', async (line, meant) => {
    const { code, out, errors } = await command(...wordsOf(line));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(errors).toEqual([expect.stringMatching(/^maitred: .*[Dd]id you mean /)]);
    expect(errors[0]?.split(/[Dd]id you mean /)[1]).toContain(meant);
  });
}

export function itHelps(command: Command, usage: string, lines: readonly string[]): void {
  it.each(lines)('%s helps', async (line) => {
    const { code, out, errors } = await command(...wordsOf(line));
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
    expect(out).toMatch(new RegExp(`Usage: (npx )?${usage}`));
  });
}
