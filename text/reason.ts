/** Errors whose message says no more than its code and the server's address. */
export const PLAIN: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ETIMEDOUT: 'connection timed out',
  EAI_AGAIN: 'host not resolved',
  EHOSTUNREACH: 'host unreachable',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS there: is it http://?',
  ENOTFOUND: 'host not found',
};

/** One line about an error; some of Node's have a code and no message, or hide their reason in a list or a cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code = '', message, name, cause } = error as Error & { readonly code?: string };
  const inner = error instanceof AggregateError ? (error.errors as unknown[])[0] : cause;
  if (PLAIN[code] === undefined && inner instanceof Error) return reasonOf(inner);
  // OpenSSL's reason comes among codes and source locations, which help nobody.
  return PLAIN[code] ?? /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? (message || code || name);
}
