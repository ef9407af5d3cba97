import { spawnSync } from 'node:child_process';
import { fileOf } from '../../support/folder.js';
import { BINARY } from '../../support/maitred.js';
import { gatewayOf, podOf, type KubeObject } from './helm.js';

/** Fits every secret: a token, a key, a hash. */
const SECRET = '0'.repeat(64);

interface Variable {
  readonly name: string;
  readonly value?: string;
}

/** The variables of the gateway's container, its file among them, on this machine. */
export function environmentOf(objects: readonly KubeObject[]): Record<string, string> {
  const { name } = podOf(objects).volumes[0].configMap;
  const map = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name);
  const variables: Variable[] = gatewayOf(objects).env;
  return {
    ...Object.fromEntries(variables.map((variable) => [variable.name, variable.value ?? SECRET])),
    MAITRED_CONFIG: fileOf('maitred.yaml', map!['data']['maitred.yaml']),
  };
}

/** What `maitred config` says there. */
export function checkConfig(env: Readonly<Record<string, string>>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BINARY, 'config'], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}
