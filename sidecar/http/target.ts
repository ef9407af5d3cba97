import { GatewayError } from '../errors.js';

/** Deepest nesting of percent-encodings of a path that is decoded. */
const ENCODINGS_MAX = 4;

/** Splits a request target into its path and its query, which keeps its question mark. */
export function splitTarget(url: string): { readonly path: string; readonly search: string } {
  const at = url.indexOf('?');
  return at < 0 ? { path: url, search: '' } : { path: url.slice(0, at), search: url.slice(at) };
}

/** Drops the authority of a proxy's absolute form, which servers must accept too (RFC 9112 3.2.2). */
export function originForm(url: string): string {
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url);
  if (absolute === null) return url;
  const rest = url.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * All paths that an engine, or a proxy before it, could read this one as. They are the path itself and its repeated
 * percent-decodings, each without repeated slashes and a trailing slash.
 * @throws GatewayError `invalid_path` for dot segments, path parameters, backslashes and control characters in any
 */
export function readingsOf(path: string): string[] {
  const readings: string[] = [];
  let plain = path;
  for (let i = 0; i < ENCODINGS_MAX; i++) {
    if (/[;\\\u0000-\u001f\u007f]|(^|\/)\.\.?(\/|$)/.test(plain)) throw invalidPath();
    // A decoded `?` or `#` ends the path for servers that decode before they split.
    readings.push(withoutExtraSlashes(plain.replace(/[?#].*/, '')));
    const decoded = percentDecoded(plain);
    // A decoded path may contain a lone percent sign.
    if (decoded === plain || decoded === undefined) return readings;
    plain = decoded;
  }
  throw invalidPath();
}

/** Servers treat a path with extra slashes as a different one: FastAPI redirects it. */
export const withoutExtraSlashes = (path: string): string => path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');

/** @throws GatewayError `invalid_path` for a path that the router cannot decode */
export function checkEncoding(path: string): void {
  if (path.includes('%') && percentDecoded(path) === undefined) throw invalidPath();
}

export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export const invalidPath = (): GatewayError => new GatewayError('invalid_path', 'The request path is not acceptable.');
