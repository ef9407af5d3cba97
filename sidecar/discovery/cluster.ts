import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { parseYaml } from '../config/index.js';
import type { Environment } from './source.js';

/** Where Kubernetes puts the credentials of a pod's service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** An API server, and the credentials for it. */
export interface Cluster {
  /** Without a slash at its end. */
  readonly server: string;
  /** Namespace of the gateway, or of the kubeconfig's context. */
  readonly namespace: string;
  readonly token: string | undefined;
  readonly tls: Tls;
}

/** As Node's `tls.connect` takes them. */
interface Tls {
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized?: boolean;
}

/**
 * The cluster of this pod. Its token is replaced about once an hour, so callers read it anew for each request.
 * @param folder that of the service account
 * @throws Error outside a cluster
 */
export async function ownCluster(env: Environment, folder = SERVICE_ACCOUNT): Promise<Cluster> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (!host) throw new Error('not in a cluster: KUBERNETES_SERVICE_HOST is not set, and neither is kubeconfig');
  const [token, ca, namespace] = await Promise.all(
    ['token', 'ca.crt', 'namespace'].map((name) => readFile(`${folder}/${name}`)),
  );
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: String(namespace).trim(),
    token: String(token).trim(),
    tls: { ca },
  };
}

const text = z.string().min(1);
const kubeconfigSchema = z.object({
  'current-context': text,
  contexts: z.array(
    z.object({
      name: text,
      context: z.object({ cluster: text, user: text.optional(), namespace: text.optional() }),
    }),
  ),
  clusters: z.array(
    z.object({
      name: text,
      cluster: z.object({
        server: z.url({ protocol: /^https?$/ }),
        'certificate-authority': text.optional(),
        'certificate-authority-data': text.optional(),
        'tls-server-name': text.optional(),
        'insecure-skip-tls-verify': z.boolean().default(false),
      }),
    }),
  ),
  users: z
    .array(
      z.object({
        name: text,
        user: z.looseObject({
          token: text.optional(),
          tokenFile: text.optional(),
          'client-certificate': text.optional(),
          'client-certificate-data': text.optional(),
          'client-key': text.optional(),
          'client-key-data': text.optional(),
        }),
      }),
    )
    .default([]),
});

/** Ways of a kubeconfig to log in that need other programs, or that API servers no longer have. */
const REFUSED = ['exec', 'auth-provider', 'username'];

/** The cluster of a kubeconfig's current context. @throws Error if the file is wrong or needs another program */
export async function clusterOf(kubeconfig: string): Promise<Cluster> {
  const { data, error } = kubeconfigSchema.safeParse(parseYaml(kubeconfig, await readFile(kubeconfig)).values);
  if (data === undefined)
    throw new Error(`${kubeconfig}: ${error.issues[0]?.path.join('.') ?? ''} is missing or wrong`);
  const context = data.contexts.find(({ name }) => name === data['current-context'])?.context;
  const cluster = data.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = data.users.find(({ name }) => name === context?.user)?.user;
  if (cluster === undefined || (user === undefined && context?.user !== undefined))
    throw new Error(`${kubeconfig}: the current context lacks its cluster or user`);
  const refused = REFUSED.find((way) => user?.[way] !== undefined);
  if (refused !== undefined)
    throw new Error(`${kubeconfig}: ${refused} is not supported; use a token, a certificate, or kubectl proxy`);
  const file = async (path: string | undefined) => path && readFile(resolve(dirname(kubeconfig), path));
  const bytes = async (base64: string | undefined, path: string | undefined) =>
    base64 === undefined ? (await file(path)) || undefined : Buffer.from(base64, 'base64');
  const tokenFile = await file(user?.tokenFile);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: context?.namespace ?? 'default',
    token: tokenFile ? String(tokenFile).trim() : user?.token,
    tls: {
      ca: await bytes(cluster['certificate-authority-data'], cluster['certificate-authority']),
      cert: await bytes(user?.['client-certificate-data'], user?.['client-certificate']),
      key: await bytes(user?.['client-key-data'], user?.['client-key']),
      servername: cluster['tls-server-name'],
      rejectUnauthorized: !cluster['insecure-skip-tls-verify'],
    },
  };
}
