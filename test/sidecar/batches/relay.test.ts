import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { relayTo } from '../../../sidecar/batches/relay.js';
import { tenantId } from '../../../src/index.js';
import { ask, cleanUp, fakeEngine } from '../gateway/world.js';

it('a request goes to the gateway that has the batches, also if its path has extra slashes', async () => {
  const holder = await fakeEngine((response, { url }) => void response.end(url));
  const server = createServer((request, response) => {
    relayTo(`${holder.url}/`, { tenant: tenantId('a'), request, response }).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  cleanUp(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const path of ['/v1/files', '//v1/files?limit=1'])
    expect((await ask(`http://127.0.0.1:${port}${path}`, { headers: { 'x-request-id': 'r' } })).text).toBe(path);
});
