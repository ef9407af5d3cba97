import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';
import { fileOf } from '../../support/folder.js';
import { BINARY } from '../../support/maitred.js';
import { fileIn, gatewayOf, type KubeObject } from './objects.js';

/** Fits every secret: a token, a key, a hash. */
const SECRET = '0'.repeat(64);

/** The variables of the gateway's container, its file among them, on this machine. */
export function environmentOf(objects: readonly KubeObject[]): Record<string, string> {
  return {
    ...Object.fromEntries(gatewayOf(objects).env.map(({ name, value }) => [name, value ?? SECRET])),
    MAITRED_CONFIG: fileOf('maitred.yaml', fileIn(objects)),
  };
}

/** The effective configuration there. @throws Error with the complaints of `maitred config` */
export function configIn(env: Readonly<Record<string, string>>): unknown {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BINARY, 'config'], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return parse(stdout);
}
