import { expect, it } from 'vitest';
import { sim } from '../../support/sim-command.js';
import { readText } from '../../support/tree.js';

/** Each shown output, with the arguments of the first `sim` in the block of commands before it. */
const shown = ['README.md', 'docs/SIMULATOR.md'].flatMap((page) => {
  const blocks = [...readText(page).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)];
  return blocks.flatMap(([, kind, text = ''], at) => {
    const [, args] = /^(?:npx )?maitred sim (.+?)(?: +#.*)?$/m.exec(blocks[at - 1]?.[2] ?? '') ?? [];
    return kind === 'text' && args !== undefined ? [[page, args, text] as const] : [];
  });
});
const spaced = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

it.each(shown)('%s shows what `sim %s` prints', { timeout: 600_000 }, async (_, args, text) => {
  const { code, out } = await sim(...args.split(' '));
  expect(code).toBe(0);
  const printed = spaced(out);
  for (const line of text.split('\n')) expect(printed).toContain(spaced(line));
});

it('the pages show two outputs', () => expect(shown).toHaveLength(2));
