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
});
