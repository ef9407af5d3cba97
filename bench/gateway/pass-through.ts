import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { forward } from './forward.js';

/** The process of a minimal proxy on Node: node:http in, undici out, no routing, no rules, no log. */
const [, , target = ''] = process.argv;
const pool = new Pool(target, { headersTimeout: 0, bodyTimeout: 0 });

const server = createServer({ noDelay: true }, (request, response) => forward(pool, request, response));
server.listen({ port: 0, host: '127.0.0.1', backlog: 10_000 }, () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('disconnect', () => process.exit());
