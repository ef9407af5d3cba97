/**
 * `npm run demo`: what scheduling does for agent programs, simulated or live. Reading guide:
 * - `program.ts`: what is simulated, played and printed. `simulate.ts`: programs in virtual time.
 * - `live.ts`: a live run. `replay.ts`: the client, which plays programs through a base URL.
 * - `../processes/`: the gateway and the engines behind the URL, in processes of their own.
 * - `workload.ts`: the source of the programs. `report.ts`: the figures of their times.
 */
import { main } from './program.js';

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await main(process.argv.slice(2), (text) => process.stdout.write(`${text}\n`));
