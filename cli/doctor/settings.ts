import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { MAKE_TOKEN, readConfigFile, secretsAsText, type Config } from '../../sidecar/config/index.js';
import { isLoopback } from '../../sidecar/http/auth.js';
import type { Finding } from './finding.js';

/** Shorter tokens can be guessed. */
const TOKEN_CHARS_SAFE = 16;
const READABLE_BY_ALL = 0o004;

/** Keys, tokens and who may reach them. @param file the configuration file, if there is one */
export function accessFindings(config: Config, file: string | undefined): Finding[] {
  const { auth, admin, listen } = config;
  const findings: Finding[] = file === undefined ? [] : fileFindings(file);
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
  const warn = (subject: string, found: string, advice: string) => findings.push({ level: 'warning', subject, found, advice }); // prettier-ignore
  if (auth.keys.some(({ sha256 }) => sha256 === hashOf('')))
    findings.push({ level: 'broken', subject: 'auth.keys', found: 'one is the hash of an empty key, so calls without a key are accepted', advice: 'replace it: printf %s "$KEY" | sha256sum' }); // prettier-ignore
  if (!isLoopback(listen.host) && auth.keys.length === 0)
    warn('listen.host', `${listen.host} is open to the network, and there are no auth.keys`, 'set auth.keys, unless the network lets only clients of yours in'); // prettier-ignore
  if (!isLoopback(listen.host) && auth.keys.length > 0)
    findings.push({ level: 'note', subject: 'listen.host', found: `${listen.host} takes keys over plain HTTP`, advice: 'put a proxy with TLS in front, unless the network is yours alone' }); // prettier-ignore
  if (admin.token !== null && admin.token.length < TOKEN_CHARS_SAFE)
    warn(
      'admin.token',
      `has only ${admin.token.length} characters, fewer than ${TOKEN_CHARS_SAFE}`,
      `make a random one: ${MAKE_TOKEN}`,
    );
  if (admin.token !== null && auth.keys.some(({ sha256 }) => sha256 === hashOf(admin.token ?? '')))
    warn('admin.token', 'is an API key too, so its client is an operator', 'give operators a token of their own');
  if (admin.port !== null && admin.token === null && !isLoopback(admin.host))
    warn('admin.host', `${admin.host} opens the admin paths to the network, without a token`, 'set admin.token, or bind admin.host to 127.0.0.1'); // prettier-ignore
  if (admin.port === null && admin.token === null && (auth.keys.length > 0 || !isLoopback(listen.host)))
    findings.push({ level: 'note', subject: 'admin.token', found: 'is not set, so admin paths and metrics are closed', advice: 'set admin.token or admin.port' }); // prettier-ignore
  return findings;
}

function fileFindings(file: string): Finding[] {
  const secrets = secretsAsText(readConfigFile(file).values);
  const mayAll = process.platform !== 'win32' && (statSync(file).mode & READABLE_BY_ALL) !== 0;
  if (secrets.length === 0 || !mayAll) return [];
  const found = `holds ${secrets.join(', ')} in plain text, and every user of this machine may read it`;
  return [{ level: 'warning', subject: file, found, advice: `chmod 600 ${file}, or name variables: env:NAME` }];
}
