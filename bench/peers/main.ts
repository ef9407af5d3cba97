/**
 * `npm run bench:peers`: vLLM Router with calibrated program scheduling against maitred with default settings, live, on
 * the same stand-in engines. Reading guide:
 * - `program.ts`: the options, the runs and their order. `loads.ts`: the load.
 * - `router.ts`: the peer's command line and its coefficients. `run.ts`: one load through one target.
 * - `report.ts`: the tables.
 */
import { main } from './program.js';

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await main(process.argv.slice(2));
