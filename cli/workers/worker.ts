import cluster from 'node:cluster';
import { RemoteState } from '../../cluster/index.js';
import { startGateway, type Gateway, type Join } from '../../sidecar/index.js';
import { makeLog } from '../../sidecar/log.js';
import type { Config } from '../../sidecar/config/index.js';
import { Channel } from './channel.js';
import type { FromWorker, ToWorker, WorkerError } from './messages.js';

/** Time for an answer of the first process: it has little to do, but the machine may be busy. */
const LIMIT_MS = 100;
/** The next record of a program, or key, makes up for one that the first process misses. */
const channel = new Channel<FromWorker>(
  process,
  (message) => message.type === 'store' && ['put', 'remember'].includes(message.request.operation),
);
let gateway: Promise<Gateway | undefined> = Promise.resolve(undefined);
let state: RemoteState | undefined;

/** A gateway whose shared state is in the first process; or in the server that `cluster.url` names. */
async function start(config: Config): Promise<Gateway | undefined> {
  const join: Join = (listener) => {
    state = new RemoteState((request) => channel.send({ type: 'store', request }), listener, LIMIT_MS);
    channel.send({ type: 'join' });
    return Promise.resolve(state);
  };
  try {
    const gateway = await startGateway(config, { log: makeLog(config), ...(config.cluster.url === null && { join }) });
    channel.send({ type: 'listening', url: gateway.url, adminUrl: gateway.adminUrl });
    return gateway;
  } catch (error) {
    const { message, code, address, port } = error as WorkerError;
    channel.send({ type: 'failed', error: { message, code, address, port } });
    channel.flush();
    // Node sends what is queued before the connection closes.
    process.disconnect();
    return undefined;
  }
}

/** Ends when the running calls have. */
async function drain(): Promise<void> {
  await (await gateway)?.drain();
  process.exit();
}

function hear(message: ToWorker): void {
  if (message.type === 'store') state?.hear(message.message);
  else if (message.type === 'start') gateway = start(message.config);
  else if (message.type === 'reload') void gateway.then((started) => started?.reload(message.config));
  else void drain();
}

process.on('message', (batch: readonly ToWorker[]) => batch.forEach(hear));
// Without the first process nobody accepts connections. Node would end this one at once, with its calls.
if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
process.on('disconnect', () => void drain());
// A terminal signals the whole group: the first process says when to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
channel.send({ type: 'loaded' });
