import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { EngineList } from '../../sidecar/admin/answers.js';
import { folderFault } from '../../sidecar/batches/seat.js';
import {
  MAKE_HASH,
  MAKE_TOKEN,
  listenKey,
  readConfigFile,
  secretsAsText,
  type Config,
} from '../../sidecar/config/index.js';
import { hostAndPort, idOf, isSelf } from '../../sidecar/engines/address.js';
import { LOOK_MS } from '../../sidecar/engines/examine.js';
import { reasonOf } from '../../sidecar/errors.js';
import { isLoopback } from '../../sidecar/http/auth.js';
import { urlAt } from '../../sidecar/http/listener.js';
import { AdminClient } from '../admin.js';
import { OWN_NAME, cannotListen } from '../advice.js';
import { SET_GATE, broken, note, warning, when, type Finding } from './finding.js';

/** Shorter tokens can be guessed. */
const TOKEN_CHARS_SAFE = 16;
const READABLE_BY_ALL = 0o004;

/** Keys, tokens and who may reach them. @param file the configuration file, if there is one */
export function accessFindings({ auth, admin, listen }: Config, file?: string): Finding[] {
  const isHash = (text: string) =>
    auth.keys.some(({ sha256 }) => sha256 === createHash('sha256').update(text).digest('hex'));
  const [hasKeys, isOpen, length] = [auth.keys.length > 0, !isLoopback(listen.host), admin.token?.length ?? Infinity];
  return [
    ...(file === undefined ? [] : fileFindings(file)),
    ...when(
      isHash(''),
      broken(
        'auth.keys',
        'one is the hash of an empty key, so calls without a key are accepted',
        `replace it: ${MAKE_HASH}`,
      ),
    ),
    ...when(
      isOpen && !hasKeys,
      warning(
        'listen.host',
        `anybody who reaches ${listen.host} may call, as there are no auth.keys`,
        'set auth.keys, unless the network lets only clients of yours in',
      ),
    ),
    ...when(
      isOpen && hasKeys,
      note(
        'listen.host',
        `${listen.host} takes keys over plain HTTP`,
        'put a proxy with TLS in front, unless the network is yours alone',
      ),
    ),
    ...when(
      length < TOKEN_CHARS_SAFE,
      warning(
        'admin.token',
        `has only ${length} characters, fewer than ${TOKEN_CHARS_SAFE}`,
        `make a random one: ${MAKE_TOKEN}`,
      ),
    ),
    ...when(
      admin.token !== null && isHash(admin.token),
      warning('admin.token', 'is an API key too, so its client is an operator', 'give operators a token of their own'),
    ),
    ...when(
      admin.port !== null && admin.token === null && !isLoopback(admin.host),
      warning(
        'admin.host',
        `${admin.host} opens the admin paths to the network, without a token`,
        'set admin.token, or bind admin.host to 127.0.0.1',
      ),
    ),
    ...when(
      admin.port === null && admin.token === null && (hasKeys || isOpen),
      note('admin.token', 'is not set, so admin paths and metrics are closed', 'set admin.token or admin.port'),
    ),
  ];
}

/** The folder of batches, which the start makes. */
export function folderFindings({ batches: { folder } }: Config): Finding[] {
  const fault = folder === null ? undefined : folderFault(folder);
  return fault === undefined ? [] : [broken('batches.folder', fault)];
}

/** Settings that have no effect, or take it from the gateway. */
export function idleFindings({ policy, admission: { gate }, starvation, objectives }: Config): Finding[] {
  const { name, tenants, tenantWeights, foresight } = policy;
  const isWeighted = tenants === 'weighted' || Object.keys(tenantWeights).length > 0;
  // With foresight, a call of a program that is large by declaration may wait longer than any other.
  const limitMs = foresight === 'none' ? starvation.waitMsMax : Infinity;
  const late = (['workflows', 'tenants'] as const).flatMap((of) =>
    Object.entries(objectives[of]).flatMap(([key, waitMs]) => (waitMs > limitMs ? [`objectives.${of}.${key}`] : [])),
  );
  return [
    ...when(
      name === 'pass-through',
      note(
        'policy.name',
        `calls are balanced, but not scheduled${isWeighted ? ': tenants’ weights have no effect under pass-through' : ''}`,
        'leave policy.name out to schedule them',
      ),
    ),
    ...when(gate === 0, warning('admission.gate', 'is 0, so no gate protects the KV caches', SET_GATE)),
    ...when(
      gate > 1,
      warning(
        'admission.gate',
        `is ${gate}, so calls may run whose contexts do not fit the KV cache together`,
        SET_GATE,
      ),
    ),
    ...late.map((key) =>
      note(
        key,
        `has no effect, as every call is overdue after starvation.waitMsMax (${limitMs})`,
        'lower it, or raise starvation.waitMsMax',
      ),
    ),
  ];
}

/** Servers besides the engines that do not take connections. */
export async function reachFindings({ cluster, tracing }: Config): Promise<Finding[]> {
  const found = [
    ['cluster.url', cluster.url, 'the gateway goes on alone meanwhile'],
    ['tracing.otlp.url', tracing.otlp.url, 'spans are lost meanwhile'],
  ] as const;
  const looks = found.map(async ([key, url, loss]) => {
    if (url === null) return [];
    const socket = connect(url.startsWith('/') ? { path: url } : hostAndPort(new URL(url), 6379));
    const signal = AbortSignal.timeout(LOOK_MS);
    const error = await once(socket, 'connect', { signal }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    socket.destroy();
    const reason = signal.aborted ? `no connection within ${LOOK_MS} ms` : reasonOf(error);
    return error === undefined
      ? []
      : [warning(key, `${url} cannot be reached: ${reason}`, `start its server, or correct it: ${loss}`)];
  });
  return (await Promise.all(looks)).flat();
}

/**
 * Whether a gateway can listen where it is to.
 * @param fault how to tell what would end its start
 */
export async function listenFindings(config: Config, fault: typeof broken): Promise<Finding[]> {
  const found = (['listen', 'admin'] as const).map(async (section) => {
    const { host, port } = config[section];
    if (port === null || port === 0) return [];
    // As the gateway listens.
    const server = createServer().listen({ host: host === 'localhost' ? '127.0.0.1' : host, port });
    const error = await once(server, 'listening').then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
    server.close();
    const url = urlAt(host, port);
    const key = (name: 'host' | 'port') => listenKey(section, name);
    if (error !== undefined && (await isOwn(config)))
      return [
        note(
          section,
          `a gateway with these engines runs at ${url} already`,
          `see how it is: ${OWN_NAME} doctor --url ${url}`,
        ),
      ];
    const own = config.engines.find((engine) => isSelf(engine, { host, port }));
    if (own !== undefined)
      return [fault(section, `port ${port} is that of engine ${idOf(own)}`, `choose another one (${key('port')})`)];
    const words = error && cannotListen(error, key);
    return words === undefined ? [] : [fault(section, words[0], words[1])];
  });
  return (await Promise.all(found)).flat();
}

/** Whether this gateway runs already, as far as its engines tell. */
async function isOwn({ listen, admin, engines, embedded }: Config): Promise<boolean> {
  const { host, port } = admin.port === null ? listen : admin;
  const ask = (path: string, token: string | null = null) =>
    new AdminClient(urlAt(host, port ?? 0), token ?? undefined, LOOK_MS).json(path);
  // Only a gateway may see the token.
  const { engines: rows } = (await ask('/healthz')
    .then(() => ask('/engines', admin.token))
    .catch(() => ({ engines: [] }))) as EngineList;
  const ids = rows.filter(({ source }) => source === 'config').map(({ id }) => id);
  return ids.length === engines.length + embedded && engines.every((engine) => ids.includes(idOf(engine)));
}

function fileFindings(file: string): Finding[] {
  const secrets = secretsAsText(readConfigFile(file).values);
  const mayAll = process.platform !== 'win32' && (statSync(file).mode & READABLE_BY_ALL) !== 0;
  if (secrets.length === 0 || !mayAll) return [];
  const found = `holds ${secrets.join(', ')} in plain text, and every user of this machine may read it`;
  return [warning(file, found, `chmod 600 ${file}, or name variables: env:NAME`)];
}
