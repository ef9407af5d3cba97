import { pipeline } from 'node:stream/promises';
import { request as ask } from 'undici';
import { hasBody } from '../http/body.js';
import { toClient, toEngine } from '../http/headers.js';
import type { Admitted } from '../http/listener.js';
import { moving } from './line-file.js';

/** Marks a request that a gateway has passed on: it is not passed on again. */
const RELAYED = 'x-maitred-relayed';

/** Passes a request on to the gateway that has the batches. @param holder its URL, if one is known @throws GatewayError `batches_moving` */
export async function relayTo(holder: string | undefined, { request, response }: Admitted) {
  if (holder === undefined || request.headers[RELAYED] !== undefined) throw moving();
  const length = request.headers['content-length'];
  const headers = [...toEngine(request.headers, { dropKey: false, plain: false }), RELAYED, '1'];
  if (length !== undefined) headers.push('content-length', length);
  if (request.headers.expect !== undefined) response.writeContinue();
  const answer = await ask(`${new URL(holder).origin}${request.url}`, {
    method: request.method as 'GET' | 'POST' | 'DELETE',
    headers,
    body: hasBody(request) ? request : null,
  }).catch(() => {
    throw moving();
  });
  const { 'content-length': answered } = answer.headers;
  response.writeHead(answer.statusCode, {
    ...toClient(answer.headers, new URL(holder)),
    ...(typeof answered === 'string' && { 'content-length': answered }),
  });
  // A client or a gateway that leaves early is no fault here.
  await pipeline(answer.body, response).catch(() => response.destroy());
}
