import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { forward } from '../gateway/forward.js';
import { makeRandom } from '../numbers.js';

interface Front {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A proxy before gateways, which sends each call to any of them.
 * @param header names the program of a call, all of whose calls go to one gateway; absent: each call by itself
 */
export async function openFront(urls: readonly string[], seed: number, header?: string): Promise<Front> {
  const pools = urls.map((url) => new Pool(url, { headersTimeout: 0, bodyTimeout: 0 }));
  const random = makeRandom(seed);
  const homes = new Map<string, Pool>();
  const anyPool = () => pools[Math.floor(random() * pools.length)]!;
  const poolOf = (program: string): Pool => {
    const pool = homes.get(program) ?? anyPool();
    homes.set(program, pool);
    return pool;
  };
  const server = createServer({ noDelay: true }, (request, response) => {
    const program = header === undefined ? undefined : request.headers[header];
    forward(typeof program === 'string' ? poolOf(program) : anyPool(), request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}
