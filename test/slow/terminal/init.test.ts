import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../sidecar/config/load.js';
import { startEngine } from '../../../sim/index.js';
import { folderOf } from '../../support/folder.js';
import { BINARY } from '../../support/maitred.js';
import { lackOf, Terminal } from './terminal.js';

describe.skipIf(lackOf('tmux') !== undefined)('maitred init on a terminal (needs tmux)', () => {
  function start(): { readonly terminal: Terminal; readonly file: string } {
    const file = join(folderOf({}), 'maitred.yaml');
    const terminal = new Terminal({ columns: 120 });
    terminal.run(`${process.execPath} ${BINARY} init --out ${file}`);
    return { terminal, file };
  }

  it('asks, says what an engine is, and asks again after a wrong answer', async () => {
    const engine = await startEngine({});
    onTestFinished(() => engine.close());
    const { terminal, file } = start();
    await terminal.shows(/Base URLs of the engines/);
    terminal.run('localhost:8000');
    await terminal.shows(/must be an http/);
    terminal.run(`${engine.url}, http://127.0.0.1:9`);
    await terminal.shows(/vllm, llama-3.1-8b, KV cache of \d+ tokens/);
    await terminal.shows(/no answer from http:\/\/127\.0\.0\.1:9:[\s\S]*Next: npx maitred doctor[\s\S]*Then: npx maitred serve/); // prettier-ignore
    expect(loadConfig({ file }).engines).toMatchObject([
      { url: engine.url, kind: 'vllm' },
      { url: 'http://127.0.0.1:9', kind: 'auto' },
    ]);
  });

  it.each(['C-c', 'C-d'])('writes nothing when it is left by %s', async (key) => {
    const { terminal, file } = start();
    await terminal.shows(/Base URLs of the engines/);
    terminal.press(key);
    await terminal.shows(/nothing was written/);
    await terminal.shows(/ready>\s*$/);
    expect(existsSync(file)).toBe(false);
  });
});
