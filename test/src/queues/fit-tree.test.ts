import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { FitTree, type Key } from '../../../src/queues/fit-tree.js';
import { Dice } from '../../support/dice.js';

interface Entry extends Key {
  need: number;
}

const entry = (seq: number, need: number, level = 0, rank = 0): Entry => ({ level, rank, seq, need });

function treeOf(...entries: readonly Entry[]): FitTree<Entry> {
  const tree = new FitTree<Entry>();
  for (const each of entries) tree.insert(each, each, each.need);
  return tree;
}

describe('FitTree', () => {
  it('takes needs of zero and below, and room without bound', () => {
    const tree = treeOf(entry(1, Infinity), entry(2, -5), entry(3, 0));
    expect(tree.firstFit(-5)?.seq).toBe(2);
    expect(tree.firstFit(-6)).toBeUndefined();
    expect(tree.firstFit(Infinity)?.seq).toBe(1);
  });

  it('does as a sorted array does under random operations', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const dice = new Dice(seed);
      const tree = new FitTree<Entry>();
      let model: Entry[] = [];
      for (let seq = 0; seq < 80; seq += 1) {
        if (dice.chance(0.6)) {
          const added = entry(seq, dice.int(0, 20), dice.int(0, 3), dice.pick([0, 0, 0.5, 1]));
          tree.insert(added, added, added.need);
          model = [...model, added].sort((a, b) => a.level - b.level || a.rank - b.rank || a.seq - b.seq);
        } else if (model.length > 0) {
          const gone = dice.pick(model);
          assert.equal(tree.delete(gone), true);
          assert.equal(tree.delete(gone), false);
          model = model.filter((each) => each !== gone);
        }
        const room = dice.int(-1, 21);
        const fitting = model.find((each) => each.need <= room);
        assert.equal(tree.firstFit(room), fitting);
        assert.equal(tree.first(), model[0]);
        assert.equal(tree.size, model.length);
      }
      assert.deepEqual([...tree], model);
    }
  });

  it('stays shallow: a search among 65,536 entries reads few of them, whatever their order of coming', () => {
    for (const seqOf of [(n: number) => n, (n: number) => 65_536 - n]) {
      let reads = 0;
      const tree = new FitTree<number>();
      for (let n = 0; n < 65_536; n += 1) {
        const seq = seqOf(n);
        const key = {
          level: 0,
          rank: 0,
          get seq() {
            reads += 1;
            return seq;
          },
        };
        tree.insert(key, seq, 1);
      }
      reads = 0;
      expect(tree.delete({ level: 0, rank: 0, seq: 12_345 })).toBe(true);
      // Finding and removing read each key on the way a few times; a list would read tens of thousands.
      expect(reads).toBeLessThan(500);
    }
  });
});
