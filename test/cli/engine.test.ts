import { describe, expect, it } from 'vitest';
import { Maitred } from '../support/maitred.js';

describe('maitred engine', () => {
  it('serves the models it is given until a signal ends it', async () => {
    const maitred = new Maitred(
      'engine --port 0 --preset tiny-cpu --speed 100 --slots 2 --kv-tokens 4096 --model one --model two'.split(' '),
    );
    const url = await maitred.url();
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(['one', 'two']);
    const answer = await fetch(`${url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'two', prompt: 'Hello', max_tokens: 2 }),
    });
    expect(answer.status).toBe(200);
    maitred.kill('SIGTERM');
    expect(await maitred.ended).toBe(0);
  });

  it('exits 1 when the port is taken', async () => {
    const first = new Maitred(['engine', '--port', '0']);
    const second = new Maitred(['engine', '--port', new URL(await first.url()).port]);
    expect(await second.ended).toBe(1);
    expect(second.stderr).toMatch(/^maitred: port \d+ of \S+ is taken: end what [^\n]*\(--port\)\n$/);
  });
});
