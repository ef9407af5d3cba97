import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

/** The process of a minimal proxy on Node: node:http in, undici out, no routing, no rules, no log. */
const [, , target = ''] = process.argv;
const pool = new Pool(target, { headersTimeout: 0, bodyTimeout: 0 });

const server = createServer({ noDelay: true }, (request, response) => {
  const headers = { ...request.headers };
  delete headers.connection;
  delete headers.host;
  pool
    .stream(
      { method: request.method ?? 'GET', path: request.url ?? '/', headers, body: request },
      ({ statusCode, headers: answered }) => {
        delete answered['transfer-encoding'];
        return response.writeHead(statusCode, answered);
      },
    )
    .catch(() => response.destroy());
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 10_000 }, () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('disconnect', () => process.exit());
