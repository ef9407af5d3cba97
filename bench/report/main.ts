/**
 * `npm run bench:report`: the standing experiments of `lab/experiments`, as Markdown with charts.
 * - `program.ts`: the command line, the runs and what is written.
 * - `recordings.ts`: the recorded programs that some experiments play. `worker.ts`: a thread that makes runs.
 */
import { main } from './program.js';

process.exitCode = await main(process.argv.slice(2));
