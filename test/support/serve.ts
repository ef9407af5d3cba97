import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUp } from './clean-up.js';

/** Starts an HTTP server that is closed after the test. Returns its URL. */
export async function serve(listener: RequestListener, wanted = 0): Promise<string> {
  const server = createServer(listener).listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
