import OpenAI, { toFile } from 'openai';

/** Runs a batch as OpenAI's own guide does, and prints what it sees. */
const client = new OpenAI({ baseURL: `${process.env.GATEWAY_URL}/v1`, apiKey: 'unused' });
const line = (id, content, more = {}) =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'llama-3.1-8b', max_tokens: 8, messages: [{ role: 'user', content }] },
    ...more,
  });
const content = [line('a', 'one'), line('b', 'about ${a}', { after: ['a'] }), line('c', 'three')].join('\n');
const endpoint = '/v1/chat/completions';
const input = await client.files.create({ file: await toFile(Buffer.from(content), 'in.jsonl'), purpose: 'batch' });
let batch = await client.batches.create({ input_file_id: input.id, endpoint, completion_window: '24h' });
while (batch.status !== 'completed') batch = await client.batches.retrieve(batch.id);
const output = await (await client.files.content(batch.output_file_id)).text();
const listed = [];
for await (const file of client.files.list({ limit: 1 })) listed.push(file.purpose);
const deleted = await client.files.delete(input.id);
const lost = await client.files.retrieve(input.id).catch((error) => error.code);
const cancelled = await client.batches.cancel(batch.id).catch((error) => error.code);
const ids = output
  .trim()
  .split('\n')
  .map((each) => JSON.parse(each).custom_id);
const { request_counts: counts } = batch;
console.log(JSON.stringify({ ids: ids.sort(), counts, listed, deleted: deleted.deleted, lost, cancelled }));
