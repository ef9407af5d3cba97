import { InvalidArgumentError, type Command } from 'commander';
import { request } from 'undici';

export interface AdminFlags {
  readonly url: string;
  readonly token?: string;
}

export const URL_DEFAULT = 'http://127.0.0.1:8080';
const TIMEOUT_MS = 10_000;
/** The variable that configures a gateway's own token. */
const TOKEN_VARIABLE = 'MAITRED_ADMIN_TOKEN';

/** The options of commands that ask a running gateway. @param otherwise default of `--url`; absent: none */
export function addAdminOptions(command: Command, otherwise?: string): Command {
  return command
    .option('--url <url>', 'the gateway’s admin listener', gatewayUrl, otherwise)
    .option('--token <variable>', `environment variable that holds the admin token (default: ${TOKEN_VARIABLE})`);
}

/** A base URL, without a trailing `/v1` of clients' settings. */
function gatewayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new InvalidArgumentError('It must be an http:// or https:// URL without query or fragment.');
  if (url.username !== '' || url.password !== '') throw new InvalidArgumentError('It must not hold credentials; use --token.'); // prettier-ignore
  return text.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** The admin token, if one is given. Ends the command if its variable is not set. */
export function adminToken(command: Command, { token }: Pick<AdminFlags, 'token'>): string | undefined {
  const value = process.env[token ?? TOKEN_VARIABLE];
  if (token !== undefined && (value === undefined || value === '')) command.error(`--token: the environment variable ${token} is not set`); // prettier-ignore
  return value === '' ? undefined : value;
}

/** A gateway's answer to an admin request. */
export interface AdminAnswer {
  readonly body: unknown;
  /** Its clock, if it tells it. */
  readonly date: string | undefined;
}

/** A request that a gateway did not answer as asked. */
export class AdminError extends Error {
  override readonly name = 'AdminError';

  /** @param code the gateway's error code, `unreachable` or `no_gateway` */
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * GETs JSON from a gateway.
 * @throws AdminError that says what to do
 */
export async function askGateway(url: string, path: string, token: string | undefined): Promise<AdminAnswer> {
  const headers = { accept: 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, signal: AbortSignal.timeout(2 * TIMEOUT_MS) };
  const answer = await request(url + path, { headers, ...timeouts })
    .then(async ({ statusCode, headers, body }) => ({ status: statusCode, headers, text: await body.text() }))
    .catch((thrown: unknown) => {
      const error = thrown as NodeJS.ErrnoException;
      throw new AdminError(
        'unreachable',
        `no gateway answers at ${url}: ${error.message || (error.code ?? error.name)}`,
      );
    });
  if (answer.headers['x-maitred-reason'] === undefined) throw new AdminError('no_gateway', `${url} is no maitred: it answers without x-maitred-reason`); // prettier-ignore
  const body = parsed(answer.text);
  if (answer.status !== 200) throw refusal(url, answer.status, body, token);
  const { date } = answer.headers;
  return { body, date: typeof date === 'string' ? date : undefined };
}

function refusal(url: string, status: number, body: unknown, token: string | undefined): AdminError {
  const { code = String(status), message = 'no reason given' } =
    (body as { error?: { code?: string; message?: string } } | undefined)?.error ?? {};
  if (code === 'unknown_path')
    return new AdminError(code, `${url} has no admin API here; where admin.port is set, --url must name that listener`);
  if (code === 'unknown_program')
    return new AdminError(code, `${message} A call that has ended is known only while it is its program’s last.`);
  if (code === 'unauthorized') {
    const advice =
      token === undefined ? 'name the variable that holds it with --token' : 'check the variable of --token';
    return new AdminError(code, `${url} refuses: ${message} ${advice}`);
  }
  return new AdminError(code, `${url} answered ${status}: ${message}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
