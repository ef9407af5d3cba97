import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completion, hang, lone, until, type Answer } from '../gateway/world.js';
import { batchOf, inFolder, lineOf, reached, shown } from './service.js';

/** A folder with a batch of two lines, the first of which is answered. */
async function halfDone() {
  const { batches } = inFolder();
  const answer: Answer = (response, request, ...more) =>
    (request.body.toString().includes('second') ? hang : completion())(response, request, ...more);
  const { url, gateway } = await lone(answer, { batches });
  const id = await batchOf(url, [lineOf('a', 'first'), lineOf('b', 'second '.repeat(200))]);
  await until(async () => ((await shown(url, id))['request_counts'] as { completed: number }).completed === 1);
  const input = (await shown(url, id))['input_file_id'] as string;
  await gateway.close();
  return { batches, id, input };
}

/** A further gateway with the folder; `asked` are the lines that it asked. */
async function next(batches: object) {
  const asked: string[] = [];
  const answer: Answer = (response, request, ...more) => {
    asked.push(request.body.toString().includes('second') ? 'b' : 'a');
    return completion()(response, request, ...more);
  };
  return { asked, ...(await lone(answer, { batches })) };
}

describe('a batch with answers goes on after a restart', () => {
  it('with limits that would refuse it now', async () => {
    const { batches, id } = await halfDone();
    const { url, asked } = await next({ ...batches, linesMax: 1, lineBytes: 1024 });
    const { request_counts: counts } = await reached(url, id, 'completed');
    expect(counts).toEqual({ total: 2, completed: 2, failed: 0 });
    expect(asked).toEqual(['b']);
  });

  it('once its file can be read again', async () => {
    const { batches, id, input } = await halfDone();
    const file = join(batches.folder, `t-default`, input);
    renameSync(file, `${file}.away`);
    const without = await next(batches);
    await until(() => without.logs.some(({ msg }) => msg === 'batch cannot be read'));
    expect((await shown(without.url, id))['status']).toBe('in_progress');
    await without.gateway.close();
    renameSync(`${file}.away`, file);
    const { url, asked } = await next(batches);
    await reached(url, id, 'completed');
    expect([without.asked, asked]).toEqual([[], ['b']]);
  });
});
