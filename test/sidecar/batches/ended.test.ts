import { expect, it } from 'vitest';
import { ask, fakeEngine, world } from '../gateway/world.js';
import { create, inFolder, reached, upload } from './service.js';

it('an ended batch is among the last ten that operators see, the last to end first', async () => {
  const { url, adminUrl } = await world([await fakeEngine()], inFolder());
  const ids: string[] = [];
  for (let at = 0; at < 11; at += 1) {
    const file = (await upload(url, 'no JSON')).json();
    ids.unshift(String((await create(url, file['id'])).json()['id']));
    await reached(url, ids[0]!, 'failed');
  }
  const { ended_batches: ended } = (await ask(`${adminUrl}/gateway`)).json() as unknown as { ended_batches: { id: string }[] }; // prettier-ignore
  expect(ended.map(({ id }) => id)).toEqual(ids.slice(0, 10));
});
