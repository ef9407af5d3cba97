import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';

/** PyPI's kubernetes-validate: the schemas of Kubernetes itself, without a cluster and without a network. */
const VALIDATE = process.env['TEST_KUBERNETES_VALIDATE'] ?? 'kubernetes-validate';

export const withoutSchemas =
  spawnSync(VALIDATE, ['--version']).status === 0
    ? undefined
    : 'no kubernetes-validate in the PATH, and TEST_KUBERNETES_VALIDATE names none';

/** Complaints about a manifest, unknown fields included; empty: none. Custom resources have no schema there. */
export function brokenBySchema(manifest: string, release: string): string {
  const own = parseAllDocuments(manifest).filter(
    (document) => document.contents !== null && !String(document.get('apiVersion')).includes('monitoring.coreos.com'),
  );
  const input = own.map((document) => `---\n${document.toString()}`).join('');
  const { status, stdout, stderr } = spawnSync(VALIDATE, ['--strict', '-k', release, '-'], { input, encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}
