import { InvalidArgumentError, Option, type Command } from 'commander';
import { request, type Dispatcher } from 'undici';
import { parseJson } from '../sidecar/apis/fields.js';
import { URL_VARIABLE } from '../sidecar/config/index.js';
import { reasonOf } from '../sidecar/errors.js';
import { plain } from '../text/index.js';
import { secretIn } from './options.js';

export interface AdminFlags {
  readonly url: string;
  readonly token?: string;
}

export const URL_DEFAULT = 'http://127.0.0.1:8080';
const TOKEN_VARIABLE = 'MAITRED_ADMIN_TOKEN';
const TIMEOUT_MS = 10_000;

/** The options of commands that ask a running gateway. @param otherwise default of `--url`; absent: none */
export function addAdminOptions(command: Command, otherwise?: string): Command {
  return command
    .addOption(
      new Option('--url <url>', 'the gateway, or its admin listener')
        .argParser(gatewayUrl)
        .default(otherwise)
        .env(URL_VARIABLE),
    )
    .option('--token <variable>', `environment variable that holds the admin token (default: ${TOKEN_VARIABLE})`);
}

/** The gateway that a command's options name. Ends the command if the token's variable is not set. */
export function adminClient(command: Command, { url, token }: AdminFlags, timeoutMs = TIMEOUT_MS): AdminClient {
  const own = process.env[TOKEN_VARIABLE] || undefined;
  return new AdminClient(url, token === undefined ? own : secretIn(command, '--token', token), timeoutMs);
}

/** Longest text of a server that is quoted, in characters. */
const QUOTED_MAX = 600;

/** A gateway's admin API did not answer as asked; the message says what to do. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
}

/** Reads a gateway's base URL; a trailing slash, `/v1` or `/ui` is dropped. */
function gatewayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidArgumentError(
      `It must be an http:// or https:// URL${/^[\w.-]+(:\d+)?\/?$/.test(text) ? `: did you mean http://${text}?` : '.'}`,
    );
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new InvalidArgumentError('It must be without user, query or fragment.');
  return url.href.replace(/\/+$/, '').replace(/\/(v1|ui)$/, '');
}

/** The admin API of a gateway. Errors quote neither the token nor control characters. */
export class AdminClient {
  constructor(
    readonly url: string,
    private readonly token?: string,
    /** Time limit of one request, up to the last byte. */
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  /** The answer's JSON. @throws AdminError */
  async json(path: string, method: 'GET' | 'POST' | 'DELETE' = 'GET', body?: object): Promise<unknown> {
    const { url, token, timeoutMs } = this;
    let answer: Dispatcher.ResponseData;
    let text: string;
    try {
      answer = await request(url + path, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      text = await answer.body.text();
    } catch (error) {
      throw new AdminError(`${url} ${this.#reasonOf(error as NodeJS.ErrnoException)}`);
    }
    const { statusCode: status, headers } = answer;
    const reason = headers['x-maitred-reason'];
    if (status < 200 || status >= 300 || reason === undefined)
      throw new AdminError(`${url} ${this.#refusal(status, reason, text)}`);
    const said = parseJson(text);
    if (said === undefined) throw new AdminError(`${url}${path} answered something other than JSON`);
    return said;
  }

  #reasonOf(error: NodeJS.ErrnoException): string {
    const { name, code } = error;
    if (name === 'TimeoutError') return `did not answer within ${this.timeoutMs / 1000} s`;
    const remedy = code === 'ECONNREFUSED' ? ': is the gateway running there, or at another --url?' : '';
    return `cannot be reached: ${this.#quoted(reasonOf(error))}${remedy}`;
  }

  #refusal(status: number, reason: string | string[] | undefined, text: string): string {
    if (reason === undefined) return `answers ${status}, but not as a maitred gateway: check host and port`;
    if (reason === 'unauthorized')
      return this.token === undefined
        ? 'requires the admin token: name its environment variable with --token'
        : `refuses the admin token: check the variable that --token names, or else ${TOKEN_VARIABLE}`;
    if (reason === 'unknown_path')
      return new URL(this.url).pathname === '/'
        ? 'does not serve operators on this port: use the one of admin.port'
        : 'serves nothing below this path: leave it out of --url';
    return `answers ${status}: ${this.#quoted(messageIn(text))}`;
  }

  #quoted(text: string): string {
    const { token } = this;
    const safe = token === undefined ? text : text.replaceAll(token, '[token]');
    return plain(safe.replaceAll(/\s+/g, ' ').slice(0, QUOTED_MAX));
  }
}

/** The message of a server's error in JSON, or else its text. */
export function messageIn(text: string): string {
  const { error } = (parseJson(text) ?? {}) as { readonly error?: { readonly message?: unknown } };
  return typeof error?.message === 'string' ? error.message : text;
}
