import { readFile } from 'node:fs/promises';

/** Where Kubernetes puts the credentials of a pod's service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** An API server, and the credentials for it. */
export interface Cluster {
  /** Without a slash at its end. */
  readonly server: string;
  /** That of the gateway. */
  readonly namespace: string;
  readonly token: string;
  readonly tls: { readonly ca?: Buffer };
}

/**
 * The cluster of this pod. Its token is replaced about once an hour, so callers read it anew for each request.
 * @param folder that of the service account
 * @throws Error outside a cluster
 */
export async function ownCluster(
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder = SERVICE_ACCOUNT,
): Promise<Cluster> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (!host) throw new Error('not in a cluster: KUBERNETES_SERVICE_HOST is not set');
  const [token, ca, namespace] = await Promise.all(
    ['token', 'ca.crt', 'namespace'].map((name) => readFile(`${folder}/${name}`)),
  );
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: String(namespace).trim(),
    token: String(token).trim(),
    tls: { ...(ca && { ca }) },
  };
}
