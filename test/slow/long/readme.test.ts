import { expect, it } from 'vitest';
import { sim } from '../../support/sim-command.js';
import { readText } from '../../support/tree.js';

it('the README shows what its `sim` prints', async () => {
  const readme = readText('README.md');
  const [, args = ''] = /^npx maitred sim (.+)$/m.exec(readme)!;
  const { code, out } = await sim(...args.split(' '));
  expect(code).toBe(0);
  const [verdict = ''] = out.split('\n');
  expect(verdict).toMatch(/^Take plas: programs .* faster than pass-through/);
  expect(readme).toContain(`\n${verdict}\n`);
});
