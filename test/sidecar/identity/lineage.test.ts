import { expect, it } from 'vitest';
import { Lineage } from '../../../sidecar/identity/memory.js';
import { programId } from '../../../src/index.js';

it('once a root was asked for, a program keeps it when those between are forgotten', () => {
  const lineage = new Lineage(10);
  const [a, c, d] = [programId('a'), programId('c'), programId('d')];
  lineage.link(a, programId('b'));
  lineage.link(programId('b'), c);
  lineage.link(c, d);
  expect(lineage.rootOf(a)).toBe(d);
  lineage.forget(c);
  expect(lineage.rootOf(a)).toBe(d);
});
