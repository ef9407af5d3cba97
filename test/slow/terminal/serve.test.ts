import { describe, expect, it } from 'vitest';
import { BINARY } from '../../support/maitred.js';
import { lackOf, Terminal } from './terminal.js';

describe.skipIf(lackOf('tmux') !== undefined)('maitred serve in a terminal (needs tmux)', () => {
  it('says that no engine answers, and nothing to try that would not work', async () => {
    const terminal = new Terminal({ columns: 120 });
    terminal.run(`${process.execPath} ${BINARY} serve --port 0 --engine http://127.0.0.1:1`);
    const text = (await terminal.shows(/^See why: .* doctor --url http:/m)).join('\n');
    expect(text).toMatch(/^No engine answers yet: .*\/v1 /m);
    expect(text).not.toMatch(/ready\.|curl/);
  });

  it('says at the first Ctrl-C what it waits for, and ends at the second', async () => {
    const terminal = new Terminal({ columns: 120 });
    terminal.run(`${process.execPath} ${BINARY} serve --port 0 --embedded 1 --log-level warn; echo code=$?`);
    const text = (await terminal.shows(/Base URL for clients: /)).join('\n');
    const [url = ''] = /http:\S+\/v1/.exec(text) ?? [];
    const body = {
      model: 'llama-3.1-8b',
      max_tokens: 30_000,
      ignore_eos: true,
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    };
    const running = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    terminal.press('C-c');
    await terminal.shows(/^\^?C?maitred: waits up to 10 min for 1 call to end; Ctrl-C again ends at once$/m);
    const pressed = () => {
      terminal.press('C-c');
      return terminal.screen().join('\n');
    };
    await expect.poll(pressed).toMatch(/ended at once by a second signal, SIGINT\n[^]*code=130/);
    expect(await running.text()).toContain('"code":"draining"');
  });
});
