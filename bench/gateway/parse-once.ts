import type { IncomingMessage, ServerResponse } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import { serve } from './serve.js';

/**
 * The process of the least that a scheduler of calls must do: it reads each request and each answer whole, and parses both
 * once. node:http in, undici's dispatcher out, nothing else. Event streams pass as they are.
 */
const [, , target = ''] = process.argv;
const pool = new Pool(target, { headersTimeout: 0, bodyTimeout: 0 });

function passOn(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  if (body.length > 0) JSON.parse(body.toString());
  const headers = { ...request.headers };
  for (const name of ['connection', 'host', 'content-length']) Reflect.deleteProperty(headers, name);
  const chunks: Buffer[] = [];
  let isStream = false;
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: () => undefined,
    onResponseStart(_, status, answered) {
      isStream = String(answered['content-type']).startsWith('text/event-stream');
      delete answered['transfer-encoding'];
      response.writeHead(status, answered);
    },
    onResponseData(_, chunk) {
      if (isStream) response.write(chunk);
      else chunks.push(chunk);
    },
    onResponseEnd() {
      if (isStream) return response.end();
      const answer = Buffer.concat(chunks);
      JSON.parse(answer.toString());
      response.end(answer);
    },
    onResponseError: () => response.destroy(),
  };
  pool.dispatch({ method: request.method ?? 'GET', path: request.url ?? '/', headers, body }, handler);
}

serve((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => passOn(request, response, Buffer.concat(chunks)));
});
