import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Listens on a free port of this machine, tells the parent process the URL, and ends with it. */
export function listen(server: Server): void {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 10_000 }, () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  process.once('disconnect', () => process.exit());
}

export const serve = (answer: RequestListener): void => listen(createServer({ noDelay: true }, answer));
