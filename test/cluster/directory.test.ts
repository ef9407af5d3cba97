import { expect, it } from 'vitest';
import { gatewayId } from '../../cluster/index.js';
import { MemoryStore } from '../../sim/virtual/memory-store.js';
import { programId } from '../../src/index.js';
import { Desk, recordOf } from '../support/shared-desk.js';

it('a store that is full forgets the program that was not used for longest', async () => {
  const { shared } = Desk.inMemory(new MemoryStore(2), gatewayId('g'));
  const [old, used, young] = [programId('old'), programId('used'), programId('young')];
  shared.put(used, recordOf(1));
  shared.put(old, recordOf(2));
  await shared.take(used);
  shared.put(young, recordOf(3));
  expect(await shared.take(young)).toMatchObject({ record: { serviceMs: 3 } });
  expect(await shared.take(used)).toMatchObject({ record: { serviceMs: 1 } });
});
