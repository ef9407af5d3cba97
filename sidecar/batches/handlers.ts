import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { queryOf } from '../admin/query.js';
import type { Context } from '../context.js';
import { GatewayError } from '../errors.js';
import { sendJson } from '../http/answer.js';
import { readJsonBody } from '../http/body.js';
import { checked } from '../http/checked.js';
import { requestIdOf } from '../http/headers.js';
import type { Admitted, TenantHandler } from '../http/listener.js';
import type { Batches } from './batches.js';
import { ofDisk } from './line-file.js';
import { relayTo } from './relay.js';
import type { BatchSeat } from './seat.js';
import { BatchRequest, type BatchObject, type FileObject } from './objects.js';
import type { Shelf } from './shelf.js';
import { upload } from './upload.js';

const LIST_MAX = 10_000;

interface Asked extends Admitted {
  readonly batches: Batches;
  readonly shelf: Shelf;
  readonly id: string;
}

/** `/v1/files` and `/v1/batches`, in OpenAI's forms. Another gateway that has the batches is asked in our place. */
export function batchHandlers(config: () => Context['config'], seat: BatchSeat) {
  const answer =
    (handler: (asked: Asked) => object | undefined | Promise<object | undefined>): TenantHandler =>
    async (admitted, { id = '' }) => {
      const { batches } = seat;
      if (batches === undefined) return relayTo(seat.holder, admitted);
      try {
        const found = await handler({ batches, shelf: batches.shelf(admitted.tenant), id, ...admitted });
        if (found !== undefined) sendJson(admitted.response, 200, 'batch', found);
      } catch (error) {
        throw ofDisk(error);
      }
    };
  return {
    '/v1/files': {
      GET: answer(({ shelf, request }) => {
        const purpose = queryOf(request).get('purpose');
        const files = [...shelf.files.values()].filter((file) => purpose === null || file.purpose === purpose);
        return page(files, request, 'file');
      }),
      POST: answer((asked) => upload(asked.shelf, config().batches, asked)),
    },
    '/v1/files/:id': {
      GET: answer(({ shelf, id }) => fileOf(shelf, id)),
      DELETE: answer(async ({ shelf, id }) => {
        fileOf(shelf, id);
        const reader = shelf.readerOf(id);
        if (reader !== undefined)
          throw new GatewayError(
            'file_in_use',
            `The batch ${reader.id} still reads this file: wait for its end, or cancel it.`,
          );
        await shelf.remove(id);
        return { id, object: 'file', deleted: true };
      }),
    },
    '/v1/files/:id/content': { GET: answer(sendContent) },
    '/v1/batches': {
      GET: answer(({ batches, shelf, request }) => {
        const all = [...shelf.batches.keys()].map((id) => batches.shown(shelf, id));
        return page(all, request, 'batch');
      }),
      POST: answer(async ({ batches, shelf, request, response }) => {
        const body = await readJsonBody(request, response, config().timeouts.bodyMs);
        return batches.create(shelf.tenant, checked(BatchRequest, body));
      }),
    },
    '/v1/batches/:id': { GET: answer(({ batches, shelf, id }) => batches.shown(shelf, id)) },
    '/v1/batches/:id/cancel': { POST: answer(({ batches, shelf, id }) => batches.cancel(shelf.tenant, id)) },
  };
}

/** @throws GatewayError `unknown_file` */
function fileOf(shelf: Shelf, id: string): FileObject {
  const file = shelf.files.get(id);
  if (file !== undefined) return file;
  throw new GatewayError('unknown_file', `There is no file ${JSON.stringify(id.slice(0, 100))}.`);
}

async function sendContent({ shelf, id, request, response }: Asked): Promise<undefined> {
  const { bytes } = fileOf(shelf, id);
  const content = createReadStream(shelf.pathOf(id));
  // It may be lost, which the head must tell.
  await once(content, 'open');
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': bytes,
    'x-request-id': requestIdOf(request),
    'x-maitred-reason': 'batch',
  });
  if (request.method === 'HEAD') {
    content.destroy();
    response.end();
    // A client that leaves early is no fault.
  } else await pipeline(content, response).catch(() => response.destroy());
}

/** Entries of a list, the newest first unless the query asks for the oldest. @throws GatewayError `bad_request` */
function page(entries: readonly (FileObject | BatchObject)[], request: IncomingMessage, what: 'file' | 'batch') {
  const query = queryOf(request);
  const limit = Number(query.get('limit') ?? (what === 'file' ? LIST_MAX : 20));
  const order = query.get('order') ?? 'desc';
  const after = query.get('after');
  const wrong = (param: string, text: string) => new GatewayError('bad_request', `'${param}' ${text}.`, { param });
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_MAX) throw wrong('limit', `must be 1 to ${LIST_MAX}`);
  if (order !== 'desc' && order !== 'asc') throw wrong('order', 'must be asc or desc');
  const sorted = entries.toSorted((a, b) => a.created_at - b.created_at);
  if (order === 'desc') sorted.reverse();
  const from = after === null ? 0 : sorted.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) throw wrong('after', `names no ${what}`);
  const data = sorted.slice(from, from + limit);
  const ids = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return { object: 'list', data, ...ids, has_more: from + limit < sorted.length };
}
