/**
 * `npm start`: makes the clone ready and runs the gateway, with two stand-in engines unless engines or a file are named.
 * Options are those of `maitred serve`.
 * A taken port is told first: to install and build takes minutes.
 */
import { createServer } from 'node:net';

const PORT = 8080;
const TRIED = 100;
const PORT_MAX = 65535;
const given = process.argv.slice(2);

/** The value of an option: `--port 1`, `--port=1`, `-p 1` or `-p1`. */
function valueOf(long, short = long) {
  const values = given.map((each, at) => {
    if (each === long || each === short) return given[at + 1];
    if (each.startsWith(`${long}=`)) return each.slice(long.length + 1);
    return each.startsWith(short) && !each.startsWith('--') ? each.slice(short.length) : undefined;
  });
  return values.find((value) => value !== undefined);
}

async function isTaken(port, host) {
  const server = createServer();
  const code = await new Promise((resolve) => {
    server.once('error', (error) => resolve(error.code));
    server.listen({ port, host }, () => server.close(() => resolve(undefined)));
  });
  return code === 'EADDRINUSE';
}

const hasFile = valueOf('--config', '-c') !== undefined || 'MAITRED_CONFIG' in process.env;
const hasEngines = hasFile || valueOf('--engine', '-e') !== undefined || valueOf('--embedded') !== undefined;

/** The port, unless a file sets it: only the gateway can read that. Wrong values are the gateway’s to refuse, too. */
function portOf() {
  const port = valueOf('--port', '-p') ?? process.env.MAITRED_LISTEN_PORT;
  return /^\d{1,5}$/.test(port ?? (hasFile ? '' : PORT)) ? Number(port ?? PORT) : undefined;
}

const port = given.includes('--help') || given.includes('-h') ? undefined : portOf();
const host = valueOf('--host') ?? process.env.MAITRED_LISTEN_HOST ?? '127.0.0.1';
if (port !== undefined && port <= PORT_MAX && (await isTaken(port, host))) {
  let free = port;
  for (let tried = 0; tried < TRIED && (await isTaken(free, host)); tried += 1)
    free = free < PORT_MAX ? free + 1 : PORT;
  process.stderr.write(
    `maitred: port ${port} is taken: end what runs there, or take another: npm start -- --port ${free}\n`,
  );
  process.exit(1);
}
await import('./ensure.mjs');
const quiet = valueOf('--log-level') === undefined ? ['--log-level', 'warn'] : [];
const standIns = hasEngines ? [] : ['--embedded', '2', ...quiet];
process.argv.splice(2, Infinity, 'serve', ...standIns, ...given);
await import('../dist/cli/main.js');
