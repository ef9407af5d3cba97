import { expect, it } from 'vitest';
import { listFiles, readText } from '../support/tree.js';

it('has a test file for every numbered invariant, and a number for every such file', () => {
  const told = [...readText('test/invariants/README.md').matchAll(/^\| (\d\d) +\|/gm)].map((match) => match[1]);
  const tested = listFiles().flatMap((file) => /^test\/invariants\/(\d\d)-/.exec(file)?.slice(1) ?? []);
  expect(told.length).toBeGreaterThan(0);
  expect(tested.sort()).toEqual(told);
});
