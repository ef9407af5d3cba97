/**
 * The page of a running gateway. It reads only the admin API, and is served as files: the gateway imports none of it.
 *
 * Reading guide:
 * - `state.ts`: all state, as signals; the view in the URL. `stream.ts` writes the state, from `GET /stream`.
 * - `app.tsx`: the frame. `status.tsx`, `totals.tsx`, `engines.tsx`, `history.tsx`, `programs.tsx`, `batches.tsx`: the overview.
 * - `program.tsx`, `time-line.tsx`: one program. `words.ts`: names. `format.ts`: figures.
 */
import { render } from 'preact';
import { App } from './app.js';
import { follow } from './stream.js';

const root = document.getElementById('app');
if (root !== null) {
  root.replaceChildren();
  follow();
  render(<App />, root);
}
