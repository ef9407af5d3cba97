import { Pool } from 'undici';
import { serve } from './serve.js';

/** The process of a minimal proxy on Node: node:http in, undici out, no routing, no rules, no log. */
const [, , target = ''] = process.argv;
const pool = new Pool(target, { headersTimeout: 0, bodyTimeout: 0 });

serve((request, response) => {
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
