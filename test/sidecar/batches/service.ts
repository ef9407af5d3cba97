import { expect } from 'vitest';
import { ask, bearer, chatBody, completionBody, post, until, type Answer, type Got } from '../gateway/world.js';
import { folderOf } from '../../support/folder.js';

/** What a test of batches sends, and sees. */

export const FORM = 'multipart/form-data; boundary=xyz';

export interface Sent {
  readonly purpose?: string | undefined;
  readonly tenant?: string;
}

export const formOf = (content: string | Buffer, purpose = 'batch'): Buffer =>
  Buffer.concat([
    Buffer.from(`--xyz\r\ncontent-disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n`),
    Buffer.from(
      '--xyz\r\ncontent-disposition: form-data; name="file"; filename="in.jsonl"\r\ncontent-type: x/y\r\n\r\n',
    ),
    Buffer.from(content),
    Buffer.from('\r\n--xyz--\r\n'),
  ]);

const keyOf = (tenant: string | undefined) => (tenant === undefined ? {} : bearer(tenant));

export const upload = (url: string, content: string | Buffer, { purpose, tenant }: Sent = {}): Promise<Got> =>
  ask(`${url}/v1/files`, { headers: { 'content-type': FORM, ...keyOf(tenant) }, body: formOf(content, purpose) });

export const CHAT = '/v1/chat/completions';

export const lineOf = (id: string, content = 'hello', more: object = {}): string =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: CHAT,
    body: JSON.parse(chatBody({ messages: [{ role: 'user', content }] })) as object,
    ...more,
  });

export const create = (url: string, input: unknown, more: object = {}, tenant?: string): Promise<Got> =>
  post(`${url}/v1/batches`, { input_file_id: input, endpoint: CHAT, completion_window: '24h', ...more }, keyOf(tenant));

/** Uploads the lines and makes a batch of them. */
export async function batchOf(
  url: string,
  lines: readonly string[],
  more: object = {},
  tenant?: string,
): Promise<string> {
  const file = await upload(url, lines.join('\n'), tenant === undefined ? {} : { tenant });
  expect(file.status).toBe(200);
  const batch = await create(url, file.json()['id'], more, tenant);
  expect(batch.status).toBe(200);
  return batch.json()['id'] as string;
}

export const shown = async (url: string, id: string, tenant?: string) =>
  (await ask(`${url}/v1/batches/${id}`, { headers: keyOf(tenant) })).json();

/** The batch once it has this status. */
export async function reached(url: string, id: string, status: string): Promise<Record<string, unknown>> {
  await until(async () => (await shown(url, id))['status'] === status);
  return shown(url, id);
}

export interface ResultLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: Record<string, unknown> } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The lines of a file of results. */
export async function resultsOf(url: string, file: unknown): Promise<ResultLine[]> {
  const { text } = await ask(`${url}/v1/files/${String(file)}/content`);
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ResultLine);
}

export const inFolder = () => ({ batches: { folder: folderOf({}) } });

/** Answers with the text of the first message, in angle brackets. */
export const echo: Answer = (response, { body }) => {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: unknown }[] };
  response.setHeader('content-type', 'application/json');
  const message = { content: `<${String(messages[0]!.content)}>` };
  response.end(JSON.stringify(completionBody({ choices: [{ message }] })));
};
