/**
 * `npm run soak`: a gateway under thousands of streams, faults, kills and reloads, and whether it stays as it was.
 * Reading guide:
 * - `stage.ts`: engines and gateway, and their processes. `disturb.ts`: what goes wrong.
 * - `agents.ts`: the clients, by the load tester, and what became of their calls.
 * - `samples.ts`: what is measured, and what counts as flat.
 */
import { main } from './program.js';

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await main(process.argv.slice(2));
