import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pool } from 'undici';

/** Passes a request on, and its answer back: node:http in, undici out, no rules. */
export function forward(pool: Pool, request: IncomingMessage, response: ServerResponse): void {
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
}
